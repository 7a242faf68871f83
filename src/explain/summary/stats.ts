/** Counters of Envoy, as the admin interface prints them: `NAME: VALUE`. */

/** The numbers by name; texts and histograms are left out. */
export function statsOf(text: string | undefined): ReadonlyMap<string, number> {
  const stats = new Map<string, number>();
  for (const [, name = "", value = ""] of (text ?? "").matchAll(/^([^\s:][^:\r\n\u2028\u2029]*): (\d+)$/gm)) {
    stats.set(name, Number(value));
  }
  return stats;
}
