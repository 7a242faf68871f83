/** Removes temporary files and folders at every end of the process except SIGKILL. */
import { isHandled, listen } from "../signals.ts";

/** Signals that end a process by default, with their numbers. */
const ENDS = [["SIGHUP", 1], ["SIGINT", 2], ["SIGQUIT", 3], ["SIGTERM", 15]] as const;

const removals = new Set<() => void>();
let stopGuard: (() => void) | undefined;
let stays = false;

/**
 * Keeps the guard active until the process calls `Deno.exit`. If the guard ended earlier, a signal that arrives just
 * before the guard removes its signal listeners could be lost.
 */
export function keepGuard(): void {
  stays = true;
}

/**
 * Runs `remove` when the process exits. While the guard is active, a signal without a command's handler also exits
 * through `Deno.exit`, which runs `remove`. By default, such a signal kills the process immediately. Call this before
 * creating the file. The returned function ends the guard.
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
