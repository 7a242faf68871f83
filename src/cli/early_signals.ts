/** Signals of a command that containers start as their first process, from its first moment on. */
import { EXIT } from "../core/errors.ts";
import type { SignalName, World } from "../core/world/world.ts";

/** What each asks for while nothing is done yet. A signal that is only for what runs is dropped. */
const SIGNALS: readonly (readonly [SignalName, "end" | "drop"])[] = [
  ["SIGTERM", "end"],
  ["SIGINT", "end"],
  ["SIGQUIT", "end"],
  ["SIGHUP", "drop"],
  ["SIGUSR1", "drop"],
  ["SIGUSR2", "drop"],
];

/**
 * Runs a command, which gets a world whose signals it may handle; returns its exit code. A signal that asks for the end
 * before the command handles that signal ends the wait for it: `ended` tells it, and the code is 0, as the end was asked
 * for. The kernel loses signals that the first process of a PID namespace does not handle (pid_namespaces(7)), and others
 * would be ended by a SIGHUP: so all are handled at once, before anything else is read or loaded.
 */
export async function withEarlySignals(
  world: World,
  run: (world: World) => Promise<number>,
  ended: (signal: SignalName) => Promise<void>,
): Promise<number> {
  const asked = Promise.withResolvers<number>();
  const taken = new Set<SignalName>();
  for (const [name, what] of SIGNALS) {
    world.signals.on(name, () => {
      if (what === "end" && !taken.has(name)) ended(name).then(() => asked.resolve(EXIT.ok));
    });
  }
  const on: World["signals"]["on"] = (name, handler) => {
    taken.add(name);
    return world.signals.on(name, handler);
  };
  return await Promise.race([asked.promise, run({ ...world, signals: { on } })]);
}
