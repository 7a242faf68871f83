import assert from "node:assert/strict";
import { constantOf } from "./number.ts";

Deno.test("constantOf() rejects a number that would exhaust the stack, and accepts shorter numbers", () => {
  assert.throws(() => constantOf("1_".repeat(10_000_000) + "1"), {
    message: "illegal number syntax: 20000001 characters",
  });
  assert.equal(constantOf("0." + "0".repeat(900_000) + "1").float, 0);
});
