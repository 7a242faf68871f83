/** Large inputs need the memory that the start of the program has taken. */
import { startupMemoryReleaser } from "../../core/startup_memory.ts";
import type { World } from "../../core/world/world.ts";
import type { ManifestInput } from "../../inject/mod.ts";

/** Bytes of 200 ms of work. A smaller input needs no memory back, whose preparation takes 4 ms, and no file for its output. */
export const LARGE_INPUT = 256 * 1024;

/** Resources after which the program uses no more pages of its file than it has used. */
const WARM_UP = 32;

/**
 * What is to be called for each resource: the call after the first resources releases the pages that only the start needed, if the
 * inputs are large. To be prepared before permissions are given up. Where a process may not do this, it has more memory.
 */
export function releaseForLargeInputs(
  system: World["system"],
  inputs: readonly Pick<ManifestInput, "size">[],
): () => void {
  const size = inputs.reduce((sum, input) => sum + (input.size ?? 0), 0);
  const release = size < LARGE_INPUT ? undefined : startupMemoryReleaser(system);
  let done = 0;
  return () => {
    if (++done !== WARM_UP) return;
    try {
      release?.();
    } catch {
      // Then it has more memory.
    }
  };
}
