/** Memory that a long-lived process needs only at its start, mostly pages of the program. */
import type { World } from "./world.ts";

/** Milliseconds: the first second still uses the startup code; V8 collects what the start left within half a minute. */
const RELEASES = [1000, 30_000];

/** Returns a function that releases it, also after permissions are given up; `undefined` where a process may not do this. */
export function startupMemoryReleaser(system: World["system"]): (() => void) | undefined {
  try {
    return system.memoryReleaser();
  } catch {
    // Another system, or a process that may not do this.
    return undefined;
  }
}

/** Releases memory a few times, until the signal. Where the system does not allow it, the process keeps the memory. */
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
