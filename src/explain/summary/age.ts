/** Converts and compares times. */
/** Returns the milliseconds since 1970 for a time of the API server or Envoy; `undefined` for any other text. */
export function millisecondsOf(text: string): number | undefined {
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/** Returns the whole seconds between two times; `null` if a time is unknown. */
export function secondsBetween(from: number | undefined, to: number | undefined): number | null {
  return from === undefined || to === undefined ? null : Math.round((to - from) / 1000);
}
