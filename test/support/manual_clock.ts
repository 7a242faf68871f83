/** A clock that tests control. */
import type { Clock } from "../../src/platform/world.ts";

interface Sleeper {
  readonly due: number;
  wake(): void;
}

/** A clock that stands still until `pass` is called. */
export class ManualClock implements Clock {
  #passed = 0;
  /** Difference between the time of day and the monotonic clock. */
  #shift = 0;
  readonly #sleepers = new Set<Sleeper>();

  constructor(private readonly start: number) {}

  now(): Date {
    return new Date(this.start + this.#passed + this.#shift);
  }

  monotonic(): number {
    return this.#passed;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const sleeper = {
        due: this.#passed + milliseconds,
        wake: () => {
          this.#sleepers.delete(sleeper);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", sleeper.wake);
    });
  }

  /** The number of sleepers, and the milliseconds until the first one wakes. */
  get waiting(): { readonly count: number; readonly next: number | undefined } {
    const dues = [...this.#sleepers].map(({ due }) => due - this.#passed);
    return { count: dues.length, next: dues.length === 0 ? undefined : Math.min(...dues) };
  }

  /**
   * Lets time pass. Sleepers wake in the order of their times; each runs until it waits again before the next one
   * wakes.
   */
  async pass(milliseconds: number): Promise<void> {
    const end = this.#passed + milliseconds;
    for (;;) {
      const [first] = [...this.#sleepers].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due);
      if (first === undefined) break;
      this.#passed = Math.max(this.#passed, first.due);
      first.wake();
      await settled();
    }
    this.#passed = end;
  }

  /** Changes only the time of day. */
  set(milliseconds: number): void {
    this.#shift += milliseconds;
  }
}

/** Waits for a few turns of the event loop, so that pending promises have run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}
