import assert from "node:assert/strict";
import { parseFloat64, parseInteger } from "./strconv.ts";

Deno.test("parseInteger() and parseFloat64() reject a number that would exhaust the stack", () => {
  const long = "1_".repeat(10_000_000) + "1";
  assert.deepEqual([parseInteger(long), parseFloat64(long)], [undefined, undefined]);
  assert.equal(parseFloat64("0." + "0".repeat(900_000) + "1"), 0);
});
