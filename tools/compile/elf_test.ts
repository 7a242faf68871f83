import assert from "node:assert/strict";
import { elfLength } from "./elf.ts";

/** An ELF header whose section headers (two of 64 bytes) begin at 128. */
function elf(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0x28, 128n, true);
  view.setUint16(0x3a, 64, true);
  view.setUint16(0x3c, 2, true);
  return bytes;
}

Deno.test("elfLength() ends at the section headers, whatever is appended", () => {
  assert.equal(elfLength(elf(256)), 256);
  assert.equal(elfLength(elf(1000)), 256);
});

Deno.test("elfLength() rejects a file that is cut off or is no ELF", () => {
  assert.throws(() => elfLength(elf(255)), /cut off/);
  assert.throws(() => elfLength(new Uint8Array(100)), /Not a 64-bit/);
  assert.throws(() => elfLength(new Uint8Array(3)), /Not a 64-bit/);
});
