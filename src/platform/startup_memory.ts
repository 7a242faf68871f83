/** Releases memory that a long-lived process needs only at its start, mostly pages of the program. */
import type { World } from "./world.ts";

/**
 * Milliseconds after the start at which memory is released. The first second still uses the startup code. V8 collects
 * the startup garbage within half a minute.
 */
const RELEASES = [1000, 30_000];

/**
 * Returns a function that releases startup memory and also works after giving up permissions. Returns `undefined` if
 * the process may not release memory.
 */
export function startupMemoryReleaser(system: World["system"]): (() => void) | undefined {
  try {
    return system.memoryReleaser();
  } catch {
    // Not Linux, or the process lacks the permission.
    return undefined;
  }
}

/** Releases memory a few times until the signal fires. Ignores a refusal by the system. */
export async function releaseStartupMemory(
  clock: World["clock"],
  release: () => void,
  end?: AbortSignal,
): Promise<void> {
  for (const milliseconds of RELEASES) {
    await clock.sleep(milliseconds, end);
    if (end?.aborted === true) return;
    try {
      release();
    } catch {
      // The next attempt may be permitted.
    }
  }
}
