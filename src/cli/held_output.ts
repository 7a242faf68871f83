/** Output that waits until it is known that nothing failed. */
import type { Scratch } from "../core/world/world.ts";

/** Bytes that are held in memory. */
const MOST_IN_MEMORY = 64 * 1024 * 1024;

/** What is held, in the order in which it came. */
export interface HeldOutput {
  add(bytes: Uint8Array): void;
  /** Hands everything over, and forgets it. */
  release(write: (bytes: Uint8Array) => void): void;
  /** Forgets everything. */
  drop(): void;
}

/**
 * Holds output in memory up to `most` bytes, then in a file. `scratch` is called when the file is needed.
 * Errors: those of the file.
 */
export function holdOutput(scratch: () => Scratch, most = MOST_IN_MEMORY): HeldOutput {
  let memory: Uint8Array[] = [];
  let bytesInMemory = 0;
  let file: Scratch | undefined;
  const spill = () => {
    file ??= scratch();
    for (const bytes of memory) file.write(bytes);
    memory = [];
    bytesInMemory = 0;
  };
  return {
    add(bytes) {
      memory.push(bytes);
      bytesInMemory += bytes.length;
      if (file !== undefined || bytesInMemory > most) spill();
    },
    release(write) {
      for (const bytes of file?.chunks() ?? memory) write(bytes);
      memory = [];
    },
    drop() {
      memory = [];
      file?.close();
    },
  };
}
