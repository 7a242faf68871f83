import { Buffer } from "node:buffer";

/**
 * Rust's `std::env::temp_dir` in the runtime for Linux, without the variable. The runtime makes a URL of that folder before it starts a
 * program, and ends with "Could not convert path to URL" where `TMPDIR` is empty, relative, or not UTF-8: a sidecar would not start. It
 * reads and writes nothing there. The program itself reads the variable (src/platform/deno/temporary) and is not changed.
 *
 * The name of the variable gets a NUL as its first byte. Rust asks the C library for no such name, so the variable is never set.
 * Source: Rust 1.9x, `run_with_cstr` in library/std/src/sys; Deno 2.6, `extract_standalone` in cli/rt/binary.rs.
 */

/** The name between its neighbours in the text that Rust's library has in one piece: Deno and SQLite name the variable too. */
const BEFORE = "strerror_r failure";
const AFTER = "TMPDIRfatal runtime error";

/** Returns a copy of the runtime whose folder for temporary files is `/tmp`. Throws unless the name is there exactly once. */
export function withFixedTemporary(runtime: Uint8Array): Uint8Array {
  const changed = Buffer.from(runtime);
  const at = changed.indexOf(`${BEFORE}${AFTER}`);
  if (at < 0 || changed.indexOf(`${BEFORE}${AFTER}`, at + 1) >= 0) {
    throw new Error(
      "The runtime does not name TMPDIR where Rust's library does: look at tools/compile/fixed_temporary.ts",
    );
  }
  changed[at + BEFORE.length] = 0;
  return changed;
}
