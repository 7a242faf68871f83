/**
 * The range of releases for which a configuration was written, named by the range's last release: `1.1` (1.0 and 1.1,
 * `[[ ]]` templates), `1.8` (1.2 to 1.8, `template:` with `{{ }}`), then releases with `templates:`, grouped by their
 * defaults: `1.16`, `1.17`, `1.21`, and `current` (1.22 and later).
 */
export type Era = "1.1" | "1.8" | "1.16" | "1.17" | "1.21" | "current";

const MODERN = [[16, "1.16"], [17, "1.17"], [21, "1.21"]] as const;

/** The era of a release 1.`minor`, from 1.9 on. */
export function eraOf(minor: number): Era {
  return MODERN.find(([last]) => minor <= last)?.[1] ?? "current";
}
