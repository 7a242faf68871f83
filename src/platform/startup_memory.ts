/** Memory that a long-lived process needs only at its start, mostly pages of the program. */
import type { World } from "./world.ts";

/**
 * Milliseconds after the start. The first second still uses the startup code; V8 collects the garbage of the start
 * within half a minute.
 */
const RELEASES = [1000, 30_000];

/**
 * Returns a function that releases this memory, also after permissions are given up; `undefined` where the process may
 * not.
 */
export function startupMemoryReleaser(system: World["system"]): (() => void) | undefined {
  try {
    return system.memoryReleaser();
  } catch {
    // Not Linux, or the process lacks the permission.
    return undefined;
  }
}

/** Releases memory a few times, until the signal. Where the system denies it, the process keeps the memory. */
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
      // The next one may be permitted.
    }
  }
}
