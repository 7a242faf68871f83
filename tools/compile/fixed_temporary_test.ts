import assert from "node:assert/strict";
import { withFixedTemporary } from "./fixed_temporary.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("withFixedTemporary() changes one byte: the name of the variable in Rust's library", () => {
  const runtime = bytes('SQLITE_TMPDIR\0strerror_r failureTMPDIRfatal runtime error: x\0get("TMPDIR")');
  const before = runtime.slice();
  const changed = withFixedTemporary(runtime);
  assert.equal(
    new TextDecoder().decode(changed),
    'SQLITE_TMPDIR\0strerror_r failure\0MPDIRfatal runtime error: x\0get("TMPDIR")',
  );
  assert.deepEqual(runtime, before);
});

Deno.test("withFixedTemporary() refuses a runtime where the name is missing or there twice", () => {
  const one = "strerror_r failureTMPDIRfatal runtime error";
  for (const text of ["TMPDIR", one + one]) assert.throws(() => withFixedTemporary(bytes(text)), /TMPDIR/);
});
