import assert from "node:assert/strict";
import fc from "fast-check";
import { longestAscending } from "./longest_ascending.ts";

Deno.test("longestAscending: indexes of a longest ascending subsequence", () => {
  const cases: readonly (readonly [values: readonly (number | undefined)[], indexes: readonly number[]])[] = [
    [[], []],
    [[undefined], []],
    [[0, 1, 2], [0, 1, 2]],
    [[2, 0, 1], [1, 2]],
    [[0, undefined, 5, 3, 4], [0, 3, 4]],
    [[1, 0], [0]],
    [[0, 2, 1, 3], [0, 1, 3]],
    [[1, 1], [0]],
  ];
  for (const [values, indexes] of cases) {
    assert.deepEqual([...longestAscending(values)].sort((a, b) => a - b), indexes, String(values));
  }
});

Deno.test("longestAscending: is ascending and as long as the quadratic algorithm finds", () => {
  fc.assert(fc.property(fc.array(fc.option(fc.nat(12), { nil: undefined }), { maxLength: 12 }), (values) => {
    const found = [...longestAscending(values)].sort((a, b) => a - b).map((index) => values[index] ?? NaN);
    assert.ok(found.every((value, at) => at === 0 || value > (found[at - 1] ?? NaN)));
    const best: number[] = [];
    values.forEach((value, at) => {
      const earlier = best.filter((_, before) => (values[before] ?? Infinity) < (value ?? -Infinity));
      best[at] = value === undefined ? 0 : Math.max(0, ...earlier) + 1;
    });
    assert.equal(found.length, Math.max(0, ...best));
  }));
});
