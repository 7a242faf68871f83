import assert from "node:assert/strict";
import { token } from "./attempt.ts";
import { queryBytes } from "./connections.ts";

Deno.test("token() is random and fits in a DNS label", () => {
  assert.match(token(), /^[0-9a-f]{32}$/);
  assert.notEqual(token(), token());
});

Deno.test("queryBytes() asks for the address of a name below invalid", () => {
  const bytes = queryBytes("abc");
  assert.deepEqual([...bytes.subarray(0, 12)], [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  assert.equal(new TextDecoder().decode(bytes.subarray(12)), "\x03abc\x07invalid\0\0\x01\0\x01");
});
