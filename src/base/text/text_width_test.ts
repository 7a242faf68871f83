import assert from "node:assert/strict";
import { paddedTo, textWidth } from "./text_width.ts";

Deno.test("textWidth() counts East Asian characters and emoji as two columns, all others as one", () => {
  assert.deepEqual(["", "web", "é√─", "商品", "ｶﾅ", "🚀"].map(textWidth), [0, 3, 3, 4, 2, 2]);
});

Deno.test("paddedTo() appends spaces up to a width in columns", () => {
  assert.deepEqual(["ab", "商", "abcde"].map((text) => paddedTo(text, 4)), ["ab  ", "商  ", "abcde"]);
});
