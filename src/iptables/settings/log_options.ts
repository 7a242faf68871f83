/** How a run logs, from our flags and from those that Istio's injector gives to every program of its own. */
import type { LogOptions } from "../../core/log.ts";

/** What the flags say. */
export interface LogFlags {
  readonly format: string;
  readonly level: string;
  /** `--log_as_json`. */
  readonly istioJson: boolean;
  /** `--log_output_level`: `info`, or scopes such as `default:info,iptables:debug`. */
  readonly istioLevel: string;
}

/** Our own flags win. Of Istio's scopes the one of this command counts, else `default`. */
export function logOptions({ format, level, istioJson, istioLevel }: LogFlags): LogOptions {
  const levels = new Map(
    istioLevel.split(",").map((item): [string, string] => {
      const [scope = "", of] = item.split(":");
      return of === undefined ? ["default", scope] : [scope, of];
    }),
  );
  const scoped = ISTIO_LEVELS[levels.get("iptables") ?? levels.get("default") ?? ""];
  return {
    format: format !== "" ? format : istioJson ? "json" : undefined,
    level: level !== "" ? level : scoped,
  };
}

/** Istio's levels; a word that is none is left to the default, as there. */
const ISTIO_LEVELS: Readonly<Record<string, string>> = {
  debug: "debug",
  info: "info",
  warn: "warning",
  error: "error",
  fatal: "fatal",
  none: "fatal",
};
