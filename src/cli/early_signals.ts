/** Signals that arrive before a container's first process has set its own handlers. */
import type { SignalName, World } from "../platform/world.ts";

/** Signals that end the program before the command handles them. */
const ENDING: readonly SignalName[] = ["SIGTERM", "SIGINT", "SIGQUIT"];
/** Signals that matter only to a running Envoy, and have no effect before the command handles them. */
const DROPPED: readonly SignalName[] = ["SIGHUP", "SIGUSR1", "SIGUSR2"];

/**
 * Runs a command and returns its exit code. If a terminating signal arrives before the command has its own handler, `ended`
 * reports the signal and returns the exit code. All signals get a handler before any other work: the kernel drops signals
 * that the first process of a PID namespace does not handle (pid_namespaces(7)), and SIGHUP would kill any other process.
 */
export async function withEarlySignals(
  world: World,
  run: (world: World) => Promise<number>,
  ended: (signal: SignalName) => Promise<number>,
): Promise<number> {
  const asked = Promise.withResolvers<number>();
  const taken = new Set<SignalName>();
  for (const name of DROPPED) world.signals.on(name, () => {});
  for (const name of ENDING) {
    world.signals.on(name, () => {
      if (!taken.has(name)) ended(name).then(asked.resolve);
    });
  }
  const on: World["signals"]["on"] = (name, handler) => {
    taken.add(name);
    return world.signals.on(name, handler);
  };
  return await Promise.race([asked.promise, run({ ...world, signals: { on } })]);
}
