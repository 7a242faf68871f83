import assert from "node:assert/strict";
import type { Value } from "../../base/value.ts";
import { matchItems } from "./match_items.ts";

const ROWS: readonly (readonly [name: string, old: Value[], next: Value[], match: (number | undefined)[]])[] = [
  ["by name", [{ name: "a" }, { name: "b" }], [{ name: "b" }, { name: "c" }], [1, undefined]],
  ["equal items", [1, 2, 3], [1, 3], [0, 2]],
  ["equal items that stand twice", [1, 1, 2], [1, 2, 1], [0, 2, undefined]],
  ["items between equal ones by position", [1, 2, 3, 4], [1, 5, 6, 4], [0, 1, 2, 3]],
  ["an item that is added before", [1, 2], [0, 1, 2], [undefined, 0, 1]],
  ["maps, whatever the order of their keys", [{ a: 1, b: 2 }], [{}, { b: 2, a: 1 }], [undefined, 0]],
];

for (const [name, old, next, match] of ROWS) {
  Deno.test(`matchItems: ${name}`, () => assert.deepEqual(matchItems(old, next).kept, match));
}

Deno.test("matchItems: an item that moves", () => {
  const [a, b, c] = [{ name: "a" }, { name: "b" }, { name: "c" }];
  assert.deepEqual(matchItems([a, b, c], [b, c, a]), { kept: [1, 2, undefined], moved: [undefined, undefined, 0] });
});

Deno.test("matchItems looks at each of 100,000 items that all change only a few times", () => {
  let reads = 0;
  const item = (index: number, value: string) =>
    new Proxy<{ [key: string]: Value }>({ kind: { index: String(index) }, value }, {
      get: (target, key) => (reads++, typeof key === "string" ? target[key] : undefined),
    });
  const list = (value: string) => Array.from({ length: 100_000 }, (_, index) => item(index, value));
  const { kept: match } = matchItems(list("old"), list("new"));
  assert.deepEqual(match.slice(0, 3), [0, 1, 2]);
  assert.ok(reads < 40 * 100_000, `${reads} reads`);
});
