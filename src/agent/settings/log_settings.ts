/** Reads log settings from this program's flags and from Istio's flags (its pkg/log). */

/** Values of the log flags; `""` if not given. */
export interface LogFlags {
  readonly format: string;
  readonly level: string;
  readonly istioJson: boolean;
  /** `--log_output_level`: `info`, or scopes such as `default:info,envoy:debug`. */
  readonly istioLevels: string;
  readonly environmentFormat: string;
}

const LEVELS: ReadonlyMap<string, string> = new Map([
  ["debug", "debug"],
  ["info", "info"],
  ["warn", "warning"],
  ["warning", "warning"],
  ["error", "error"],
  ["fatal", "fatal"],
  ["none", "fatal"],
]);

/**
 * Returns the options for `startLog`, and levels by Istio's scopes. Reports invalid values in `problems`. This program's
 * flags win over Istio's.
 */
export function logSettings(flags: LogFlags, problems: string[]) {
  const scopes = scopesOf(flags.istioLevels, problems);
  const level = flags.level === "" ? undefined : levelOf(flags.level, "--log-level", problems);
  return { format: formatOf(flags, problems), level: level ?? scopes.get("all") ?? scopes.get("default"), scopes };
}

function formatOf(flags: LogFlags, problems: string[]): "text" | "json" | undefined {
  const text = flags.format !== "" ? flags.format : flags.istioJson ? "json" : flags.environmentFormat;
  if (text === "" || text === "text" || text === "json") return text === "" ? undefined : text;
  problems.push(`Unknown log format "${text}": use text or json`);
  return undefined;
}

/** Returns the levels by scope. A level without a scope applies to the scope `default`. */
function scopesOf(text: string, problems: string[]): Map<string, string> {
  const scopes = new Map<string, string>();
  for (const item of text.split(",").filter((each) => each !== "")) {
    const colon = item.lastIndexOf(":");
    const level = levelOf(item.slice(colon + 1), "--log_output_level", problems);
    if (level !== undefined) scopes.set(colon < 0 ? "default" : item.slice(0, colon), level);
  }
  return scopes;
}

function levelOf(text: string, origin: string, problems: string[]): string | undefined {
  const level = LEVELS.get(text);
  if (level === undefined) problems.push(`Unknown level "${text}" in "${origin}": use debug, info, warning or error`);
  return level;
}
