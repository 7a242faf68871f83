import assert from "node:assert/strict";
import { verdictOf } from "./flat.ts";

const slack = { part: 0.05, amount: 1 };
const series = (value: (index: number) => number) => ({
  name: "x",
  values: Array.from({ length: 40 }, (_, i) => value(i)),
  slack,
});

Deno.test("verdictOf() ignores the start, and counts noise as flat", () => {
  const { early, late, most, isFlat } = verdictOf(series((i) => i < 8 ? i * 5 : 40 + i % 3));
  assert.deepEqual([early, late, most, isFlat], [41, 41, 42, true]);
});

Deno.test("verdictOf() finds slow growth", () => {
  assert.equal(verdictOf(series((i) => 40 + i * 0.2)).isFlat, false);
  assert.equal(verdictOf(series((i) => 40 + i * 0.05)).isFlat, true);
});

Deno.test("verdictOf() rejects too few values", () => {
  assert.throws(() => verdictOf({ name: "x", values: [1, 2, 3], slack }), /eight are needed/);
});
