import assert from "node:assert/strict";
import { joinerFor } from "./joiner.ts";

function joined(texts: readonly string[]): string {
  let written = "";
  const joiner = joinerFor("json", (text) => written += text);
  joiner.startFile();
  for (const text of texts) joiner.add("---\n", { text, items: () => itemsOf(text) });
  joiner.end();
  return written;
}

function itemsOf(text: string): readonly string[] {
  const { items } = JSON.parse(text);
  return items === undefined ? [text] : items.map((item: unknown) => JSON.stringify(item));
}

const ROWS: readonly [string, readonly string[], unknown][] = [
  ["none", [], undefined],
  ["one", ['{"kind": "A"}'], { kind: "A" }],
  ["one List", ['{"kind": "List", "items": []}'], { kind: "List", items: [] }],
  ["an empty document", ["", '{"kind": "A"}', ""], { kind: "A" }],
  ["two", ['{"kind": "A"}', '{\n  "kind": "B"\n}\n'], [{ kind: "A" }, { kind: "B" }]],
  [
    "a List and more",
    ['{"items": [{"kind": "A"}, {"kind": "B"}]}', '{"kind": "C"}'],
    ["A", "B", "C"].map((kind) => ({ kind })),
  ],
  ["empty Lists", ['{"items": []}', '{"items": []}'], []],
  ["an empty List and more", ['{"items": []}', '{"kind": "C"}'], [{ kind: "C" }]],
];

for (const [name, texts, expected] of ROWS) {
  Deno.test(`JSON of ${name}`, () => {
    const written = joined(texts);
    const isList = Array.isArray(expected);
    if (expected === undefined) return assert.equal(written, "");
    assert.deepEqual(
      JSON.parse(written),
      isList ? { apiVersion: "v1", kind: "List", metadata: {}, items: expected } : expected,
    );
  });
}
