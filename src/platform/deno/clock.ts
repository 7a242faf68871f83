import type { Clock } from "../world.ts";

export const clock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
  sleep(milliseconds, signal) {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      if (signal?.aborted) end();
      else signal?.addEventListener("abort", end);
    });
  },
};
