import assert from "node:assert/strict";
import { fc } from "../../../../test/support/properties.ts";
import type { Value } from "../../../base/value.ts";
import { type Layout, withInner } from "./layout.ts";
import { printLayout } from "./print_layout.ts";

Deno.test("printLayout: the default layout is JSON.stringify", () => {
  fc.assert(fc.property(fc.jsonValue(), (json) => {
    const value: Value = JSON.parse(JSON.stringify(json));
    assert.equal(printLayout(value, {}), JSON.stringify(value, null, 2));
  }));
});

const PLACES: Layout = {
  places: [
    { name: "x", isGapBefore: true, comma: "none" },
    { name: "y", isGapBefore: true, comma: "with gaps" },
    { name: "z", isGapBefore: false, comma: "own line" },
  ],
};

/** Blanks at the end of a line are drawn. */
const CASES: readonly (readonly [what: string, layout: Layout, value: Value, lines: readonly string[]])[] = [
  ["a line", { line: (value) => `<${value}>` }, 1, ["<1>"]],
  ["a colon", withInner({ a: { colon: " : " } }), { a: 1 }, ["{", '  "a" : 1', "}"]],
  ["an order", { order: ["c", "b"] }, { a: 1, b: 2 }, ["{", '  "b": 2,', '  "a": 1', "}"]],
  ["a gap", withInner({ a: { gap: 1 } }), { a: 1, b: 2 }, ["{", '  "a": 1,', "·", '  "b": 2', "}"]],
  ["an indent", withInner({ a: { indent: 1 } }), { a: [1] }, ["{", '  "a": [', "   1", "  ]", "}"]],
  ["an outdent", withInner({ a: { outdent: 2 } }), { a: [1] }, ["{", '  "a": [', "    1", "]", "}"]],
  ["a tight list", { isTight: true }, [{ a: 1 }], ["[{", '  "a": 1', "}]"]],
  ["an open one", { isOpen: true }, {}, ["{", "}"]],
  ["commas on lines of their own", { commas: "own line" }, [1, 2], ["[", "  1", "  ,", "  2", "]"]],
  ["a comma behind all", { commas: "behind all" }, [1, 2], ["[", "  1,", "  2,", "]"]],
  ["the place of an item", { items: (_, index, count) => ({ line: () => `${index}/${count}` }) }, [7, 7], [
    "[",
    "  0/2,",
    "  1/2",
    "]",
  ]],
  ["places without parts", PLACES, { a: 1 }, ["{", '  "a": 1', "··", "··", "··", "}"]],
  ["all parts in their places", PLACES, { z: 3, y: 2, x: 1 }, [
    "{",
    "··",
    '  "x": 1',
    "··",
    "  ,",
    "··",
    "··",
    '  "y": 2',
    "  ,",
    '  "z": 3',
    "}",
  ]],
  ["items in their places", PLACES, [{ name: "y" }], ["[", "··", "··", "··", "  {", '    "name": "y"', "  }", "]"]],
];

for (const [what, layout, value, lines] of CASES) {
  Deno.test(`printLayout: ${what}`, () => {
    const blanks = (text: string) => text.replaceAll(/ +$/gm, (found) => "·".repeat(found.length));
    assert.deepEqual(blanks(printLayout(value, layout)).split("\n"), lines);
  });
}
