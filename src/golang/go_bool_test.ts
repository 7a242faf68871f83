import assert from "node:assert/strict";
import { parseBool } from "./go_bool.ts";

Deno.test("parseBool accepts only Go's spellings", () => {
  assert.deepEqual(["1", "T", "true", "0", "F", "False"].map(parseBool), [true, true, true, false, false, false]);
  assert.deepEqual(["yes", "", " true", "tRUE"].map(parseBool), [undefined, undefined, undefined, undefined]);
});
