import assert from "node:assert/strict";
import { editDocument, parseDocument, toYaml } from "../mod.ts";
import { isMap, newMap } from "../../base/value.ts";

/** Texts that close brackets or quotes at the column of their key, with the values that kubectl reads. */
const CASES: readonly [text: string, read: unknown][] = [
  ["a: {\n  b: 1\n}\n", { a: { b: 1 } }],
  ["x:\n  a: [\n    1,\n  ]\n  b: 2\n", { x: { a: [1], b: 2 } }],
  ["x:\n  a: [1,\n  2, # two\n\n  # three\n  3\n  ]\n", { x: { a: [1, 2, 3] } }],
  ["x:\n- a: [\n  'it # is', \"a # b\",\n  c#d\n]\n- e\n", { x: [{ a: ["it # is", "a # b", "c#d"] }, "e"] }],
  ["a: 'x\ny'\n", { a: "x y" }],
  ["x:\n  a: 'q\n  r'\n  b: \"s\n\n  t\"\n", { x: { a: "q r", b: "s\nt" } }],
  ["a: [{\n  b: [\n  1\n  ]\n}]\n", { a: [{ b: [1] }] }],
  ["a: {\r\n  b: 1\r\n}\r\nc: 2\r\n", { a: { b: 1 }, c: 2 }],
  [
    "metadata:\n  annotations: {\n    a: \"}\",\n  # ]\n  b: '{',\n  }\nspec: {}\n",
    { metadata: { annotations: { a: "}", b: "{" } }, spec: {} },
  ],
  ["a:\n- |-\n  {\n  x\n- value: |\n    [\n    ]\n  b: [\n]\n", { a: ["{\nx", { value: "[\n]\n", b: [] }] }],
];

for (const [text, read] of CASES) {
  Deno.test(`parseDocument() reads ${JSON.stringify(text)} as kubectl does`, () => {
    assert.equal(JSON.stringify(parseDocument({ text }).value), JSON.stringify(read));
  });
}

Deno.test("parseDocument() reports a bracket that is never closed", () => {
  assert.throws(
    () => parseDocument({ text: "a: [1,\nb: 2\n" }),
    /indented too little, or a bracket or quote is not closed/,
  );
  assert.throws(() => parseDocument({ text: `a: [\n${"1,\n".repeat(300)}` }), /Cannot read the YAML/);
});

Deno.test("editDocument() keeps a bracket that is closed at the column of its key", () => {
  const parsed = parseDocument({ text: "a: {\n  b: 1 # one\n}\nc: 2\n" });
  assert.ok(isMap(parsed.value));
  const next = Object.assign(newMap(), parsed.value, { c: 3 });
  assert.equal(editDocument(parsed, next), "a: {\n  b: 1 # one\n}\nc: 3\n");
  const inside = parseDocument({ text: "a: [\n  1\n]\n" });
  const edited = editDocument(inside, Object.assign(newMap(), { a: [1, 2] }));
  assert.equal(toYaml(parseDocument({ text: edited }).value), "a:\n- 1\n- 2\n");
});

Deno.test("parseDocument() rejects a key directly after a quote, as kubectl does", () => {
  assert.throws(() => parseDocument({ text: 'a:\n- "z"b: c\n' }), /Text follows a value/);
  assert.throws(() => parseDocument({ text: "a:\n- {b: c} d: e\n" }), /Text follows a value/);
  assert.equal(JSON.stringify(parseDocument({ text: '{"a": 1,"b":{c: 2}}' }).value), '{"a":1,"b":{"c":2}}');
});
