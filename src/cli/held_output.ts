/** Output that waits until it is known that nothing failed. */
import type { Scratch } from "../core/world/world.ts";

/** Bytes that are held in memory. */
const MOST_IN_MEMORY = 64 * 1024 * 1024;

/** Pieces are copied into blocks: each piece by itself keeps a buffer that is larger than the piece. */
const BLOCK = 256 * 1024;

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
  let blocks: Uint8Array[] = [];
  /** Bytes at the end of the last block that hold nothing yet. */
  let free = 0;
  let held = 0;
  let file: Scratch | undefined;
  const used = () => blocks.map((block, i) => i < blocks.length - 1 ? block : block.subarray(0, block.length - free));
  const forget = () => {
    blocks = [];
    free = 0;
  };
  const spill = () => {
    file ??= scratch();
    for (const bytes of used()) file.write(bytes);
    forget();
  };
  const copy = (bytes: Uint8Array) => {
    if (bytes.length > free) {
      const last = blocks.at(-1);
      if (last !== undefined) blocks[blocks.length - 1] = last.subarray(0, last.length - free);
      blocks.push(new Uint8Array(Math.max(BLOCK, bytes.length)));
      free = Math.max(BLOCK, bytes.length);
    }
    const block = blocks.at(-1);
    block?.set(bytes, block.length - free);
    free -= bytes.length;
  };
  return {
    add(bytes) {
      if (file !== undefined) return file.write(bytes);
      copy(bytes);
      held += bytes.length;
      if (held > most) spill();
    },
    release(write) {
      for (const bytes of file?.chunks() ?? used()) write(bytes);
      forget();
    },
    drop() {
      forget();
      file?.close();
    },
  };
}
