/**
 * Prints the messages of a wait. If the proxy is ready immediately, prints nothing, so that only the command prints.
 */
import { formatDuration } from "../golang/duration.ts";
import { ClosedPipeError, errorLine, MeshError } from "../base/errors.ts";
import type { Logger } from "../platform/log.ts";
import type { World } from "../platform/world.ts";
import type { Explanation } from "./stages.ts";

/** Reports the progress of a wait, in the form of `kubectl-mesh wait` or of pilot-agent. */
export interface Reporter {
  /** `timeout` in milliseconds. */
  begin(timeout: number): Promise<void>;
  unready(seen: string): Promise<void>;
  ready(waited: number): Promise<void>;
  note(text: string): Promise<void>;
  warn(text: string): Promise<void>;
  timedOut(timeout: number, explanation: Explanation): MeshError;
  /** Prints an error. Resolves with `false` if `main` must print the error. */
  error(error: MeshError): Promise<boolean>;
}

/** Formats a duration such as `1m0s` or `1.5s`. */
function duration(milliseconds: number): string {
  return formatDuration(BigInt(Math.round(milliseconds)) * 1_000_000n);
}

export interface LogReporterOptions {
  readonly format?: string | undefined;
  readonly level?: string | undefined;
  readonly quiet: boolean;
}

/**
 * Returns a reporter that writes log lines to standard error, including errors if the format is JSON. Throws a
 * `UsageError` for an unknown format or level, whether from an option or from `MESH_LOG_FORMAT` or `MESH_LOG_LEVEL`.
 */
export async function logReporter(world: World, { format, level, quiet }: LogReporterOptions): Promise<Reporter> {
  const chosen = { format, level: quiet ? "error" : level };
  const isJson = (format ?? world.env.get("MESH_LOG_FORMAT")) === "json";
  // The log is imported with the first message, because most runs find the proxy ready.
  let opened: Logger | undefined;
  const log = async (level: "debug" | "info" | "warn" | "fatal", text: string) => {
    const { logText, startLog } = await import("../platform/log.ts");
    opened ??= startLog(world, "wait", chosen);
    opened[level](logText(text));
  };
  if (format ?? level ?? world.env.get("MESH_LOG_FORMAT") ?? world.env.get("MESH_LOG_LEVEL")) {
    await log("debug", "Waiting");
  }
  let last: string | undefined;
  let limit = 0;
  return {
    begin: (timeout) => Promise.resolve(void (limit = timeout)),
    async unready(seen) {
      if (last === undefined) await log("info", `Waiting for the proxy, at most ${duration(limit)}: ${seen}`);
      else if (last !== seen) await log("debug", `Not ready: ${seen}`);
      last = seen;
    },
    async ready(waited) {
      if (last !== undefined) await log("info", `The proxy is ready after ${duration(waited)}`);
    },
    note: (text) => log("info", text),
    warn: (text) => log("warn", text),
    timedOut(timeout, { seen, hint }) {
      const within = timeout === 0 ? "is not ready" : `was not ready within ${duration(timeout)}`;
      return new MeshError(`The proxy ${within}: ${seen}`, { hint });
    },
    async error(error) {
      if (isJson) await log("fatal", errorLine(error));
      return isJson;
    },
  };
}

/** Returns a reporter that writes to standard output in the form of Istio's log. */
export function pilotAgentReporter(world: World, options: { readonly json: boolean }): Reporter {
  const log = (level: string, text: string) => {
    const time = world.clock.now().toISOString().replace("Z", "000Z");
    const line = options.json ? JSON.stringify({ level, time, msg: text }) : `${time}\t${level}\t${text}`;
    try {
      world.stdout.write(`${line}\n`);
    } catch (error) {
      // The wait continues even if the reader of the log is gone.
      if (!(error instanceof ClosedPipeError)) throw error;
    }
    return Promise.resolve();
  };
  return {
    begin: (timeout) => log("info", `Waiting for Envoy proxy to be ready (timeout: ${timeout / 1000} seconds)...`),
    unready: () => Promise.resolve(),
    ready: () => log("info", "Envoy is ready!"),
    note: (text) => log("info", text),
    warn: (text) => log("warn", text),
    timedOut: (_timeout, { seen, hint }) =>
      new MeshError(`Timeout waiting for Envoy proxy to become ready. Last error: ${seen}`, { hint }),
    async error(error) {
      await log("error", errorLine(error));
      return false;
    },
  };
}
