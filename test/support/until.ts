/** Longer than anything takes in these tests, on a machine with ten times its load: a test that waits in vain ends. */
export const DEADLINE_MILLISECONDS = 180_000;

/** Milliseconds: what is not there immediately is asked for less often. A question may start a process. */
function pauseAfter(waited: number): number {
  return Math.min(5 + waited / 20, 50);
}

/** Waits until a condition holds. Throws `problem` if it does not within the deadline. */
export async function until(
  isTrue: () => boolean | Promise<boolean>,
  problem: string | (() => string) = "The condition did not come true",
): Promise<void> {
  const start = performance.now();
  while (!await isTrue()) {
    if (performance.now() - start > DEADLINE_MILLISECONDS) {
      throw new Error(typeof problem === "string" ? problem : problem());
    }
    await new Promise((resolve) => setTimeout(resolve, pauseAfter(performance.now() - start)));
  }
}
