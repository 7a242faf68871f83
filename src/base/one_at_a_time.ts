/**
 * Returns a function whose calls never run concurrently. Calls during a run cause one more run. Resolves after the last
 * run.
 */
export function oneAtATime(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let again = false;
  const loop = async () => {
    while (again) {
      again = false;
      await run();
    }
    running = undefined;
  };
  return () => {
    again = true;
    return running ??= loop();
  };
}
