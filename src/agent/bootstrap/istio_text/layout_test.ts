import assert from "node:assert/strict";
import { COMPACT, GO_JS, GO_MAP, type Layout, ONE_LINE, ONE_WIDE_LINE, withInner } from "./layout.ts";
import type { Value } from "../../../base/value.ts";
import { printLayout } from "./print_layout.ts";

Deno.test("withInner: paths become members and items", () => {
  const own = () => ({});
  assert.deepEqual(
    withInner({ "a/b": { indent: 1 }, a: { gap: 0 }, "a/[]/c": { colon: ":" }, d: own }, { order: ["d"] }),
    {
      order: ["d"],
      members: {
        a: {
          gap: 0,
          members: { b: { indent: 1, members: {} } },
          items: { members: { c: { colon: ":", members: {} } } },
        },
        d: own,
      },
    },
  );
});

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
