import assert from "node:assert/strict";
import { closest, editDistance } from "./closest.ts";

Deno.test("editDistance counts insertions, deletions and replacements", () => {
  const rows: readonly (readonly [string, string, number])[] = [
    ["", "", 0],
    ["", "abc", 3],
    ["kitten", "sitting", 3],
    ["inject", "injected", 2],
    ["flaw", "lawn", 2],
  ];
  for (const [a, b, distance] of rows) {
    assert.equal(editDistance(a, b), distance, `${a} ${b}`);
    assert.equal(editDistance(b, a), distance, `${b} ${a}`);
  }
});

Deno.test("closest takes the nearest within two edits, whatever the capitals", () => {
  assert.equal(closest("proxyCpu", ["proxyMemory", "proxyCPU", "proxyCPULimit"]), "proxyCPU");
  assert.equal(closest("injekt", ["inject", "reject"]), "inject");
  assert.equal(closest("foo", ["inject"]), undefined);
});

Deno.test("closest takes the nearest of a short word within one edit or a swap", () => {
  assert.equal(closest("get", ["agent"]), undefined);
  assert.equal(closest("wait", ["fit"]), undefined);
  assert.equal(closest("wat", ["wait"]), "wait");
  assert.equal(closest("wiat", ["cni", "wait"]), "wait");
});
