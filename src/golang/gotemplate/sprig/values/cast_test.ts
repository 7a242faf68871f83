import assert from "node:assert/strict";
import { parseFloat64 } from "./cast.ts";

Deno.test("parseFloat64() takes no number that would exhaust the stack", () => {
  assert.equal(parseFloat64("1_".repeat(10_000_000) + "1"), undefined);
  assert.equal(parseFloat64("0." + "0".repeat(900_000) + "1"), 0);
});
