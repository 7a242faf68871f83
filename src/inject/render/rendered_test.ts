import assert from "node:assert/strict";
import { MeshError } from "../../base/errors.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { RenderedReader } from "./rendered.ts";

const PADDING = "# so long that the text comes apart\n".repeat(6);

const TEXTS: readonly string[] = [
  "a:\n- x\n- y: 1\n  z: |\n    # text\n\n    - more\n- [1,\n   2]\nb: {c: d}\n",
  "a:\n  b:\n    c: 1\n    c: 2\n  e:\nyes: no\n1: x\n\"q\": 'r'\n",
  "a: &x {b: 1}\nc: *x\n",
  'a: "one\n  two: three"\nb: |+\n  x\n\nc: >-\n  y\n  z\n',
  "- - a\n  - b\n-\n  c: d\n",
  "a:\n    b: 1\n\n# comment\n    c:\n      - d\n",
  "null\n",
];

for (const [index, text] of TEXTS.entries()) {
  Deno.test(`RenderedReader.read: text ${index} reads as YAML, the first time and again`, () => {
    const reader = new RenderedReader();
    for (const whole of [text, PADDING + text, text, PADDING + text]) {
      assert.deepEqual(reader.read(whole), parseYaml(whole, ""));
    }
  });
}

Deno.test("RenderedReader.read: an error is about the whole text", () => {
  const text = `${PADDING}a:\n  b: 1\n c: 2\n`;
  const reader = new RenderedReader();
  for (const _time of ["first", "again"]) {
    assert.throws(() => reader.read(text), (error) => error instanceof MeshError && error.place?.line === 9);
  }
});
