/** Memory that only the start needs: most of it are pages of the program. */
import type { World } from "../core/world/mod.ts";

/** Milliseconds: the first second still runs what starts; V8 collects what the start left within half a minute. */
const RELEASES = [1000, 30_000];

/** To be called before permissions are given up; what it returns releases memory some times from then on, until the signal. */
export function startupMemory(
  { system, clock }: Pick<World, "system" | "clock">,
): (signal: AbortSignal) => Promise<void> {
  const release = unlessRefused(() => system.memoryReleaser());
  return async (signal) => {
    if (release === undefined) return;
    for (const milliseconds of RELEASES) {
      await clock.sleep(milliseconds, signal);
      if (!signal.aborted) unlessRefused(release);
    }
  };
}

/** Not every system lets a process do this: then it has more memory. */
function unlessRefused<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}
