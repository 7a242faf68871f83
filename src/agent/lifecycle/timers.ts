import type { Clock } from "../../platform/world.ts";

/** Returns named timers. Setting a timer replaces the previous timer of the same name. */
export function timersOf<Name>(clock: Clock) {
  const running = new Map<Name, AbortController>();
  return {
    set(name: Name, milliseconds: number, up: () => void): void {
      running.get(name)?.abort();
      const timer = new AbortController();
      running.set(name, timer);
      clock.sleep(milliseconds, timer.signal).then(() => timer.signal.aborted || up());
    },
    clear: () => running.forEach((timer) => timer.abort()),
  };
}
