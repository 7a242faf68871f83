import assert from "node:assert/strict";
import { joinBytes } from "./bytes.ts";

Deno.test("joinBytes() puts pieces behind each other, whatever their number", () => {
  const [a, b, empty] = [new Uint8Array([1, 2]), new Uint8Array([3]), new Uint8Array()];
  assert.deepEqual([...joinBytes([a, empty, b])], [1, 2, 3]);
  assert.equal(joinBytes([a]), a);
  assert.equal(joinBytes([]).length, 0);
});
