/** Holds output until all resources have succeeded. */
import type { Scratch } from "../../platform/world.ts";

/** Maximum bytes in memory, enough for about 2,500 Deployments. */
const MAX_IN_MEMORY = 16 * 1024 * 1024;

/** Maximum bytes in memory if no file can be created, for example on a read-only file system. */
const MAX_WITHOUT_FILE = 4 * MAX_IN_MEMORY;

/**
 * Holds output in memory up to `most` bytes, then in the file that `scratch` opens. If `scratch` fails, memory holds up
 * to `mostWithout` bytes. Throws the errors of the file.
 */
export function holdOutput(
  scratch: () => Scratch,
  most = MAX_IN_MEMORY,
  mostWithout = Math.max(most, MAX_WITHOUT_FILE),
) {
  const pieces: Uint8Array[] = [];
  let held = 0;
  let limit = most;
  let file: Scratch | undefined;
  const spill = () => {
    try {
      file = scratch();
    } catch (error) {
      if (held > mostWithout) throw error;
      limit = mostWithout;
      return;
    }
    for (const bytes of pieces.splice(0)) file.write(bytes);
  };
  return {
    add(bytes: Uint8Array) {
      if (file !== undefined) return file.write(bytes);
      pieces.push(bytes);
      held += bytes.length;
      if (held > limit) spill();
    },
    /** Passes the output to `write` in order, and empties the buffer. */
    release(write: (bytes: Uint8Array) => void) {
      for (const bytes of file?.chunks() ?? pieces.splice(0)) write(bytes);
    },
    drop() {
      pieces.length = 0;
      file?.close();
    },
  };
}
