import { Buffer } from "node:buffer";

/**
 * Makes Rust's `std::env::temp_dir` in the Linux runtime ignore `TMPDIR`. Before the runtime starts a program, it
 * makes a URL of the temporary folder, and it exits with "Could not convert path to URL" if `TMPDIR` is empty,
 * relative, or not UTF-8: a sidecar would not start. It reads and writes nothing in that folder. The program itself
 * reads `TMPDIR` in src/platform/deno/temporary, which this does not change.
 *
 * The first byte of the variable's name becomes NUL. Rust does not pass such a name to the C library, so the variable
 * counts as unset. Source: Rust 1.9x, `run_with_cstr` in library/std/src/sys; Deno 2.6, `extract_standalone` in
 * cli/rt/binary.rs.
 */

/** The text before the name in Rust's library. Deno and SQLite contain `TMPDIR` too, after different text. */
const BEFORE = "strerror_r failure";
const AFTER = "TMPDIRfatal runtime error";

/**
 * Returns a copy of the runtime whose temporary folder is always `/tmp`. Throws unless the name occurs exactly once.
 */
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
