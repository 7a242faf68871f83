/** Parses Envoy's statistics in the format of its admin interface, `NAME: VALUE`. */

/** Returns the numbers by name. Omits texts and histograms. */
export function statsOf(text: string | undefined): ReadonlyMap<string, number> {
  const stats = new Map<string, number>();
  for (const [, name = "", value = ""] of (text ?? "").matchAll(/^([^\s:][^:\r\n\u2028\u2029]*): (\d+)$/gm)) {
    stats.set(name, Number(value));
  }
  return stats;
}
