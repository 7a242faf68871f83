import assert from "node:assert/strict";
import { withoutMiddle } from "./mod.ts";

Deno.test("withoutMiddle() keeps the beginning and the end", () => {
  assert.equal(withoutMiddle("abcdefg", 7), "abcdefg");
  assert.equal(withoutMiddle("abcdefgh", 7), "abc…fgh");
  assert.equal(withoutMiddle("ab😀cdefgh", 7), "ab\ufffd…fgh");
});
