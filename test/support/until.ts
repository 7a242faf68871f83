/** Longer than anything takes in these tests, so that one that waits in vain ends. */
export const DEADLINE_MILLISECONDS = 20_000;

/** Waits until something is true. Rejects with what `problem` then says if it does not come about. */
export async function until(
  isTrue: () => boolean | Promise<boolean>,
  problem: string | (() => string) = "What was waited for did not come about",
  milliseconds = DEADLINE_MILLISECONDS,
): Promise<void> {
  const start = performance.now();
  while (!await isTrue()) {
    if (performance.now() - start > milliseconds) {
      throw new Error(typeof problem === "string" ? problem : problem());
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
