import assert from "node:assert/strict";
import { plainEnd, quotedEnd } from "./scalar_end.ts";

const PLAIN: readonly (readonly [text: string, end: number | undefined, inFlow: number | undefined])[] = [
  ["a\n", 1, 1],
  ["a b\n", 3, 3],
  ["a: b\n", 1, 1],
  ["a:b\n", 3, 3],
  ["a:\n", 1, 1],
  ["a #b\n", 2, 2],
  ["a#b\n", 3, 3],
  ["a   #b\n", 4, 4],
  ["a, b\n", 4, 1],
  ["a]\n", 2, 1],
  ["a:]\n", 3, 1],
  ["-1\n", 2, 2],
  ["- 1\n", undefined, undefined],
  ["-]\n", 2, undefined],
  ["&a\n", undefined, undefined],
  ["'a'\n", undefined, undefined],
];

for (const [text, end, inFlow] of PLAIN) {
  Deno.test(`plainEnd(${JSON.stringify(text)})`, () => {
    assert.equal(plainEnd(text, 0, false), end);
    assert.equal(plainEnd(text, 0, true), inFlow);
  });
}

const QUOTED: readonly (readonly [text: string, end: number | undefined])[] = [
  ['"a" b\n', 3],
  ['"a\\"b"\n', 6],
  ['"a\\u0041"\n', undefined],
  ['"a\\', undefined],
  ['"a\nb"\n', undefined],
  ['"a', undefined],
  ["'a' b\n", 3],
  ["'a''b'\n", 6],
  ["'a\n'", undefined],
  ["'a''", undefined],
  ["''\n", 2],
];

for (const [text, end] of QUOTED) {
  Deno.test(`quotedEnd(${JSON.stringify(text)})`, () => assert.equal(quotedEnd(text, 0), end));
}
