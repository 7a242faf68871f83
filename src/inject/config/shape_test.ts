import assert from "node:assert/strict";
import { type Shape, wrongIn } from "./shape.ts";

const SHAPE: Shape = {
  fields: { name: "text", "port?": "number", "of?": { either: [{ list: "text" }, { map: "text" }] } },
};

const WRONG = [
  [[], "", "a mapping"],
  [{}, "name", "a string"],
  [{ name: "a", port: "1" }, "port", "a number"],
  [{ name: "a", of: 1 }, "of", "a mapping"],
  [{ name: "a", of: { b: 1 } }, "of.b", "a string"],
] as const;

Deno.test("wrongIn() names the first field of another shape", () => {
  for (const [value, field, expected] of WRONG) {
    assert.deepEqual(wrongIn(JSON.parse(JSON.stringify(value)), SHAPE), { field, expected });
  }
  for (const value of [{ name: "a" }, { name: "a", port: null, of: ["b"] }, { name: "a", of: { b: "c" }, more: 1 }]) {
    assert.equal(wrongIn(JSON.parse(JSON.stringify(value)), SHAPE), undefined);
  }
});
