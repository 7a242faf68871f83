import assert from "node:assert/strict";
import type { Value } from "../../../core/value.ts";
import type { Layout } from "./layout.ts";
import { COMPACT, GO_JS, GO_MAP, ONE_LINE, ONE_WIDE_LINE } from "./lines.ts";
import { printLayout } from "./print_layout.ts";

const DATA = { b: [1, { c: "<, \n>" }], a: {} };

const CASES: readonly (readonly [string, Layout, Value, string])[] = [
  ["COMPACT", COMPACT, DATA, '{"b":[1,{"c":"<, \\n>"}],"a":{}}'],
  ["GO_MAP", GO_MAP, DATA, '{"a":{},"b":[1,{"c":"\\u003c, \\n\\u003e"}]}'],
  ["ONE_LINE", ONE_LINE, DATA, '{"b": [1, {"c": "<, \\n>"}], "a": {}}'],
  ["ONE_WIDE_LINE", ONE_WIDE_LINE, { a: { b: 1 } }, '{ "a": {"b": 1} }'],
  ["GO_JS", GO_JS, `a=b&<c> "d" 'e' \\.`, `"a\\u003Db\\u0026\\u003Cc\\u003E \\"d\\" \\'e\\' \\\\."`],
];

for (const [name, layout, value, text] of CASES) {
  Deno.test(`${name}: what it is on one line`, () => assert.equal(printLayout(value, layout), text));
}
