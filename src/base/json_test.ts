import assert from "node:assert/strict";
import { parseJson } from "./json.ts";

Deno.test("parseJson() gives the value of JSON, and undefined for any other text", () => {
  for (const value of [null, false, 0, "", [], { a: [1, "b"] }]) {
    assert.deepEqual(parseJson(JSON.stringify(value)), value);
  }
  for (const text of ["", "a: 1", "{", "[1,]", "undefined"]) assert.equal(parseJson(text), undefined);
});
