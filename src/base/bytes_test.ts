import assert from "node:assert/strict";
import { binaryOf, bytesOfBinary, joinBytes } from "./bytes.ts";

Deno.test("joinBytes() puts pieces behind each other, whatever their number", () => {
  const [a, b, empty] = [new Uint8Array([1, 2]), new Uint8Array([3]), new Uint8Array()];
  assert.deepEqual([...joinBytes([a, empty, b])], [1, 2, 3]);
  assert.equal(joinBytes([a]), a);
  assert.equal(joinBytes([]).length, 0);
});

Deno.test("a binary string has a character for each byte", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  assert.equal(binaryOf(bytes).length, 256);
  assert.deepEqual(bytesOfBinary(binaryOf(bytes)), bytes);
});
