import assert from "node:assert/strict";
import { trimmed, trimmedEnd } from "./trim.ts";

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

Deno.test("trimmedEnd(): characters at the end, but not the first ones that are kept", () => {
  assert.equal(trimmedEnd("a//b///", "/"), "a//b");
  assert.equal(trimmedEnd("///", "/"), "");
  assert.equal(trimmedEnd("///", "/", 1), "/");
  assert.equal(trimmedEnd("a-.", ".-"), "a");
});
