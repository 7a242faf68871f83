/** Which inputs are large: they need the memory that the start of the program has taken, and room for their output. */
import { startupMemoryReleaser } from "../../platform/startup_memory.ts";
import type { World } from "../../platform/world.ts";
import type { ManifestInput } from "../../inject/mod.ts";

/** Bytes of 200 ms of work. Smaller inputs need no memory back, whose preparation takes 4 ms, and no file for their output. */
const LARGE = 256 * 1024;

/** What an input counts whose size is not known, such as a file of a folder: asking each takes longer than it saves. */
const UNKNOWN_SIZE = 1024;

type Sized = Pick<ManifestInput, "size">;

function sizeOf(inputs: readonly Sized[]): number {
  return inputs.reduce((sum, { size = UNKNOWN_SIZE }) => sum + size, 0);
}

/** Whether the size of all inputs is known, and small. */
export function areSmall(inputs: readonly Sized[]): boolean {
  return inputs.every(({ size }) => size !== undefined) && sizeOf(inputs) < LARGE;
}

/** Resources after which the program uses no more pages of its file than it has used. */
const WARM_UP = 32;

/**
 * What is to be called for each resource: the call after the first resources releases the pages that only the start needed, if the
 * inputs are large. To be prepared before permissions are given up. Where a process may not do this, it has more memory.
 */
export function releaseForLargeInputs(
  system: World["system"],
  inputs: readonly Sized[],
): () => void {
  const release = sizeOf(inputs) < LARGE ? undefined : startupMemoryReleaser(system);
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
