import type { Clock } from "../../platform/world.ts";

/** Named timers. Setting a timer replaces the previous timer of the same name. */
export interface Timers<Name> {
  set(name: Name, milliseconds: number, up: () => void): void;
  clear(): void;
}

export function timersOf<Name>(clock: Clock): Timers<Name> {
  const running = new Map<Name, AbortController>();
  return {
    set(name, milliseconds, up) {
      running.get(name)?.abort();
      const timer = new AbortController();
      running.set(name, timer);
      clock.sleep(milliseconds, timer.signal).then(() => timer.signal.aborted || up());
    },
    clear: () => running.forEach((timer) => timer.abort()),
  };
}
