import assert from "node:assert/strict";
import { isList, type Value, type ValueMap } from "../../base/value.ts";
import { strategicMerge } from "./strategic_merge.ts";

Deno.test("strategicMerge: shares untouched subtrees and changes neither argument", () => {
  const original: ValueMap = { metadata: { labels: { a: "1" } }, spec: { containers: [{ name: "a" }] } };
  const patch: ValueMap = { spec: { containers: [{ name: "b" }] } };
  const before = JSON.stringify([original, patch]);
  const result = strategicMerge(original, patch, "Pod");
  assert.equal(result["metadata"], original["metadata"]);
  assert.equal(JSON.stringify([original, patch]), before);
});

Deno.test("a patch of many elements merges each with the first of its key, as one of few does", () => {
  const numbers = Array.from({ length: 40 }, (_, index) => index);
  const base = numbers.map((n) => ({ name: `v${n % 30}`, old: n }));
  const changes = numbers.map((n) => ({ name: `v${(n % 35) + 5}`, value: String(n) }));
  const merged = strategicMerge({ env: base }, { env: changes }, "Container")["env"];
  const expected = changes.reduce<Value>(
    (env, change) => strategicMerge({ env }, { env: [change] }, "Container")["env"] ?? null,
    base,
  );
  const sorted = (list: Value | undefined) => (isList(list) ? list : []).map((item) => JSON.stringify(item)).sort();
  assert.deepEqual(sorted(merged), sorted(expected));
  assert.equal(sorted(merged).length, 50);
});
