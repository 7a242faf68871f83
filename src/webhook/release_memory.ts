/** Memory that only the start needs, of a process that gives up its permissions. */
import { releaseStartupMemory, startupMemoryReleaser } from "../platform/startup_memory.ts";
import type { World } from "../platform/mod.ts";

/** To be called before permissions are given up; what it returns releases memory some times from then on, until the signal. */
export function startupMemory(
  { system, clock }: Pick<World, "system" | "clock">,
): (signal: AbortSignal) => Promise<void> {
  const release = startupMemoryReleaser(system);
  return async (signal) => {
    if (release !== undefined) await releaseStartupMemory(clock, release, signal);
  };
}
