import assert from "node:assert/strict";
import { fieldKeys, fieldText } from "./field_path.ts";

const FIELDS: readonly (readonly [text: string, path: readonly (string | number)[]])[] = [
  ["", []],
  ["spec.containers[0].image", ["spec", "containers", 0, "image"]],
  ['metadata.annotations["a.b/c"]', ["metadata", "annotations", "a.b/c"]],
  ['["1"].x-y', ["1", "x-y"]],
  ['a["say \\"b\\""]', ["a", 'say "b"']],
];

Deno.test("fieldText writes a path, and fieldKeys reads it", () => {
  for (const [text, path] of FIELDS) {
    assert.equal(fieldText(path), text);
    assert.deepEqual(fieldKeys(text), path);
  }
});
