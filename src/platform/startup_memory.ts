/** Releases memory that a long-lived process needs only at its start, mostly pages of the program. */
import type { World } from "./world.ts";

/**
 * Milliseconds after the start at which memory is released. The first second still uses the startup code. V8 collects
 * the startup garbage within half a minute.
 */
const RELEASES = [1000, 30_000];

/**
 * Returns a function that releases startup memory a few times until the signal fires, also after giving up permissions. Does
 * nothing where the process may not release memory.
 */
export function startupMemory(
  { system, clock }: Pick<World, "system" | "clock">,
): (end?: AbortSignal) => Promise<void> {
  const release = attempt(() => system.memoryReleaser()) ?? (() => {});
  return async (end) => {
    for (const milliseconds of RELEASES) {
      await clock.sleep(milliseconds, end);
      if (end?.aborted === true) return;
      attempt(release);
    }
  };
}

function attempt<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    // Not Linux, or the process lacks the permission.
    return undefined;
  }
}
