/** Times, for people. */
/** Milliseconds since 1970 for a time of the API server or of Envoy; `undefined` for other texts. */
export function millisecondsOf(text: string): number | undefined {
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/** Whole seconds between two times; `null` if one is unknown. */
export function secondsBetween(from: number | undefined, to: number | undefined): number | null {
  return from === undefined || to === undefined ? null : Math.round((to - from) / 1000);
}
