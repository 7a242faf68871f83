/** Removes temporary files and folders however the process ends, except by SIGKILL. */
import { isHandled, listen } from "../signals.ts";

/** Signals that end a process without a handler, with their numbers. */
const ENDS = [["SIGHUP", 1], ["SIGINT", 2], ["SIGQUIT", 3], ["SIGTERM", 15]] as const;

const removals = new Set<() => void>();
let stopGuard: (() => void) | undefined;
let stays = false;

/**
 * Keeps the guard until the process ends by `Deno.exit`. Without it, a signal that arrives just before its listener is
 * removed is lost.
 */
export function keepGuard(): void {
  stays = true;
}

/**
 * Runs `remove` when the process exits. While the guard is active, signals that no command handles end the process in
 * order too: a signal without a handler would end it at once. Call it before the file is made. The returned function
 * ends the guard.
 */
export function guard(remove: () => void): () => void {
  stopGuard ??= start();
  removals.add(remove);
  return () => {
    if (!removals.delete(remove) || removals.size > 0 || stays) return;
    stopGuard?.();
    stopGuard = undefined;
  };
}

function start(): () => void {
  const removeAll = () => removals.forEach((remove) => remove());
  globalThis.addEventListener("unload", removeAll);
  const stops = ENDS.map(([name, number]) => {
    // A command that handles the signal decides when to exit.
    return listen(name, () => void (isHandled(name) || Deno.exit(128 + number)));
  });
  return () => {
    globalThis.removeEventListener("unload", removeAll);
    stops.forEach((stop) => stop());
  };
}
