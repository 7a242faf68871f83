/** Reads the log options from this program's flags and from the flags that Istio's injector adds. */
import type { LogOptions } from "../../platform/log.ts";

export interface LogFlags {
  readonly format: string;
  readonly level: string;
  readonly istioJson: boolean;
  /** The value of `--log_output_level`: `info`, or scopes such as `default:info,iptables:debug`. */
  readonly istioLevel: string;
}

/** Merges the log flags. This program's flags win. Of Istio's scopes, uses `iptables`, or `default` if absent. */
export function logOptions({ format, level, istioJson, istioLevel }: LogFlags): LogOptions {
  const levels = new Map(
    istioLevel.split(",").map((item): [string, string] => {
      const [scope = "", of] = item.split(":");
      return of === undefined ? ["default", scope] : [scope, of];
    }),
  );
  const scoped = ISTIO_LEVELS[levels.get("iptables") ?? levels.get("default") ?? ""];
  return { format: format !== "" ? format : istioJson ? "json" : undefined, level: level !== "" ? level : scoped };
}

/** Levels of this program by Istio level. As in Istio, an unknown level means the default. */
const ISTIO_LEVELS: Readonly<Record<string, string>> = {
  debug: "debug",
  info: "info",
  warn: "warning",
  error: "error",
  fatal: "fatal",
  none: "fatal",
};
