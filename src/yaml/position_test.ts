import assert from "node:assert/strict";
import { Lines, placeOf } from "./position.ts";

const ROWS: readonly (readonly [text: string, offset: number, start: number, next: number, number: number])[] = [
  ["", 0, 0, 0, 0],
  ["ab\ncd\n", 0, 0, 3, 0],
  ["ab\ncd\n", 2, 0, 3, 0],
  ["ab\ncd\n", 3, 3, 6, 1],
  ["ab\ncd\n", 6, 6, 6, 2],
  ["ab\ncd", 5, 3, 5, 1],
  ["\n\n", 1, 1, 2, 1],
  ["\uFEFFa\nb", 2, 1, 3, 0],
];

for (const [text, offset, start, next, number] of ROWS) {
  Deno.test(`Lines of ${JSON.stringify(text)} at ${offset}`, () => {
    const lines = new Lines(text);
    assert.deepEqual([lines.start(offset), lines.next(offset), lines.number(offset)], [start, next, number]);
    assert.equal(lines.column(offset), offset - start);
  });
}

Deno.test("Lines: positions in a line of 16 MB cost nothing", () => {
  const lines = new Lines("x".repeat(16_000_000));
  for (let offset = 0; offset < 16_000_000; offset += 32) assert.equal(lines.column(offset), offset);
});

Deno.test("placeOf() shows the part of a long line around the offset, without its line break", () => {
  const text = `${"a".repeat(300)}\r\nb`;
  const { snippet, line, column } = placeOf({ file: "", index: 1, line: 7, text, separator: "" }, 300);
  assert.equal(snippet, `${"a".repeat(50)}\n${" ".repeat(50)}^`);
  assert.deepEqual([line, column], [7, 301]);
});
