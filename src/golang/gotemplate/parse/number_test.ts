import assert from "node:assert/strict";
import { parseNumber } from "./number.ts";

Deno.test("parseNumber() refuses a number that would exhaust the stack, and no shorter one", () => {
  assert.throws(() => parseNumber("1_".repeat(10_000_000) + "1"), {
    message: "illegal number syntax: 20000001 characters",
  });
  assert.equal(parseNumber("0." + "0".repeat(900_000) + "1").float, 0);
});
