import assert from "node:assert/strict";
import { trimmed } from "./trim.ts";

const isSpace = (char: string) => char === " ";

const ROWS: readonly (readonly [text: string, trimmed: string])[] = [
  ["", ""],
  ["   ", ""],
  ["a", "a"],
  ["  a b  ", "a b"],
];

for (const [text, wanted] of ROWS) {
  Deno.test(`trimmed(${JSON.stringify(text)})`, () => assert.equal(trimmed(text, isSpace), wanted));
}

Deno.test("trimmed() looks at no character between the ends", () => {
  let looks = 0;
  trimmed(`a${" ".repeat(1_000_000)}a`, () => (looks++, false));
  assert.equal(looks, 2);
});
