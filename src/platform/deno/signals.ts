/** Signal handlers of the process, and a record of handled signals. */
import { processStatus } from "../linux/process_status.ts";
import type { SignalName, Signals } from "../world.ts";

const handlers = new Map<SignalName, number>();

/** Implements `World.signals`. */
export const signals: Signals = {
  on(signal, handler) {
    const stop = listen(signal, handler);
    handlers.set(signal, (handlers.get(signal) ?? 0) + 1);
    return () => {
      stop();
      handlers.set(signal, (handlers.get(signal) ?? 0) - 1);
    };
  },
};

/** Whether a command handles this signal or the process must ignore it. */
export function isHandled(signal: SignalName): boolean {
  return (handlers.get(signal) ?? 0) > 0;
}

/** Signals for which Deno installs its own handler when any signal gets a handler. */
const TAKEN = [["SIGHUP", 1], ["SIGINT", 2], ["SIGTERM", 15]] as const;
let areIgnoredKept = false;

/** Calls the handler until the returned function is called. The handler does not count as a handler of the command. */
export function listen(signal: SignalName, handler: () => void): () => void {
  if (Deno.build.os === "windows" && signal !== "SIGINT") return () => {};
  keepIgnored();
  Deno.addSignalListener(signal, handler);
  return () => Deno.removeSignalListener(signal, handler);
}

/**
 * Keeps signals ignored that were ignored at the start, as under nohup(1). Otherwise Deno's own handler would end the
 * process.
 */
function keepIgnored(): void {
  if (areIgnoredKept || Deno.build.os !== "linux") return;
  areIgnoredKept = true;
  const ignored = ignoredSignals();
  for (const [name, number] of TAKEN) if (((ignored >> BigInt(number - 1)) & 1n) === 1n) signals.on(name, () => {});
}

function ignoredSignals(): bigint {
  try {
    return processStatus(Deno.pid)?.ignored ?? 0n;
  } catch {
    // /proc does not exist or is not readable.
    return 0n;
  }
}
