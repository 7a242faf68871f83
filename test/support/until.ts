/** The deadline for conditions. Even with ten times the usual load, nothing in these tests takes this long. */
export const DEADLINE_MILLISECONDS = 180_000;

/** The pause between two checks, in milliseconds. It grows, because a check may start a process. */
function pauseAfter(waited: number): number {
  return Math.min(5 + waited / 20, 50);
}

/** Waits until a condition is true. Throws `problem` after the deadline. */
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
