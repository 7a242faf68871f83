/** A clock for tests. */
import type { Clock } from "../../src/platform/world.ts";

interface Sleeper {
  readonly due: number;
  wake(): void;
}

/** Time stands still until `pass` is called. */
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

  /** Number of sleepers, and milliseconds until the first one wakes. */
  get waiting(): { readonly count: number; readonly next: number | undefined } {
    const dues = [...this.#sleepers].map(({ due }) => due - this.#passed);
    return { count: dues.length, next: dues.length === 0 ? undefined : Math.min(...dues) };
  }

  /** Lets time pass. Due sleepers wake in order; each runs to its next wait before the next wakes. */
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

  /** Changes the time of day only. */
  set(milliseconds: number): void {
    this.#shift += milliseconds;
  }
}

/** Waits a few turns of the event loop: pending promises have run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}
