/** What is said while waiting. Nothing is, when the proxy is ready at once: then a command's own output is all there is. */
import { formatDuration } from "../core/duration.ts";
import { ClosedPipeError, errorLine, MeshError } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import type { World } from "../core/world/world.ts";
import type { Explanation } from "./stages.ts";

/** How one of the names of this command speaks. */
export interface Voice {
  /** Waiting begins; `timeout` in milliseconds. */
  begin(timeout: number): Promise<void>;
  /** What is not ready, as of the latest round. */
  unready(seen: string): Promise<void>;
  ready(waited: number): Promise<void>;
  note(text: string): Promise<void>;
  warn(text: string): Promise<void>;
  /** The error of a time-out. */
  timedOut(timeout: number, explanation: Explanation): MeshError;
  /** Tells an error; `false` if the caller's caller still has to. */
  error(error: MeshError): Promise<boolean>;
}

/** Milliseconds as a person writes them: `1m0s`, `1.5s`. */
function duration(milliseconds: number): string {
  return formatDuration(BigInt(Math.round(milliseconds)) * 1_000_000n);
}

/** What is asked for by flags. */
export interface LogVoiceOptions {
  readonly format?: string | undefined;
  readonly level?: string | undefined;
  /** Nothing is said but errors. */
  readonly quiet: boolean;
}

/**
 * Log lines on standard error. Errors are lines of the log too if the log is JSON. Throws `UsageError` for a format or
 * level that there is not, also in `MESH_LOG_FORMAT` and `MESH_LOG_LEVEL`.
 */
export async function logVoice(world: World, { format, level, quiet }: LogVoiceOptions): Promise<Voice> {
  const chosen = { format, level: quiet ? "error" : level };
  const isJson = (format ?? world.env.get("MESH_LOG_FORMAT")) === "json";
  // The log is a chunk of its own, loaded when there is something to say: most runs find the proxy ready.
  let opened: Logger | undefined;
  const say = async (level: "debug" | "info" | "warn" | "fatal", text: string) => {
    const { logText, startLog } = await import("../core/log.ts");
    opened ??= startLog(world, "wait", chosen);
    opened[level](logText(text));
  };
  if (format ?? level ?? world.env.get("MESH_LOG_FORMAT") ?? world.env.get("MESH_LOG_LEVEL")) {
    await say("debug", "Waiting");
  }
  let told: string | undefined;
  let limit = 0;
  return {
    begin: (timeout) => Promise.resolve(void (limit = timeout)),
    async unready(seen) {
      if (told === undefined) await say("info", `Waiting for the proxy, at most ${duration(limit)}: ${seen}`);
      else if (told !== seen) await say("debug", `Not ready: ${seen}`);
      told = seen;
    },
    async ready(waited) {
      if (told !== undefined) await say("info", `The proxy is ready after ${duration(waited)}`);
    },
    note: (text) => say("info", text),
    warn: (text) => say("warn", text),
    timedOut(timeout, { seen, hint }) {
      const within = timeout === 0 ? "is not ready" : `was not ready within ${duration(timeout)}`;
      return new MeshError(`The proxy ${within}: ${seen}`, { hint });
    },
    async error(error) {
      if (isJson) await say("fatal", errorLine(error));
      return isJson;
    },
  };
}

/** The lines of pilot-agent on standard output, in the form of Istio's log. */
export function pilotAgentVoice(world: World, options: { readonly json: boolean }): Voice {
  const say = (level: string, text: string) => {
    const time = world.clock.now().toISOString().replace("Z", "000Z");
    const line = options.json ? JSON.stringify({ level, time, msg: text }) : `${time}\t${level}\t${text}`;
    try {
      world.stdout.write(`${line}\n`);
    } catch (error) {
      // That nobody reads the log is no reason not to wait.
      if (!(error instanceof ClosedPipeError)) throw error;
    }
    return Promise.resolve();
  };
  return {
    begin: (timeout) => say("info", `Waiting for Envoy proxy to be ready (timeout: ${timeout / 1000} seconds)...`),
    unready: () => Promise.resolve(),
    ready: () => say("info", "Envoy is ready!"),
    note: (text) => say("info", text),
    warn: (text) => say("warn", text),
    timedOut: (_timeout, { seen, hint }) =>
      new MeshError(`Timeout waiting for Envoy proxy to become ready. Last error: ${seen}`, { hint }),
    async error(error) {
      await say("error", errorLine(error));
      return false;
    },
  };
}
