import assert from "node:assert/strict";
import { copyValue, share } from "../../base/values/mod.ts";
import type { Value } from "../../base/value.ts";
import { entryLines, itemLines, type Layout } from "./emit.ts";

const LAYOUT: Layout = { step: 2, listIndent: 0, sortKeys: false, eol: "\n", keepBlocks: true };

const LAYOUTS: readonly Layout[] = [
  LAYOUT,
  { ...LAYOUT, step: 4 },
  { ...LAYOUT, step: 70 },
  { ...LAYOUT, listIndent: 2 },
  { ...LAYOUT, listIndent: 70 },
  { ...LAYOUT, sortKeys: true },
  { ...LAYOUT, eol: "\r\n" },
  { ...LAYOUT, keepBlocks: false },
];

Deno.test("a shared value has the text of an equal value, at each column and in each layout", () => {
  const value: Value = { z: [{ name: "a", args: ["b", ["c"]], text: "d\ne\n\n" }], b: { c: "1", empty: [] }, n: 1 };
  const kept = copyValue(value);
  share(kept);
  for (const round of ["first", "second"]) {
    for (const layout of LAYOUTS) {
      for (let column = 0; column < 10; column++) {
        const at = `${round} time, column ${column}, ${JSON.stringify(layout)}`;
        assert.equal(entryLines("key", kept, column, layout), entryLines("key", value, column, layout), at);
        assert.equal(itemLines(kept, column, layout), itemLines(value, column, layout), at);
      }
    }
  }
});
