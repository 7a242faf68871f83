import assert from "node:assert/strict";
import type { ValueMap } from "../value.ts";
import { strategicMerge } from "./strategic_merge.ts";

Deno.test("strategicMerge: shares what the patch does not touch and changes neither argument", () => {
  const original: ValueMap = { metadata: { labels: { a: "1" } }, spec: { containers: [{ name: "a" }] } };
  const patch: ValueMap = { spec: { containers: [{ name: "b" }] } };
  const before = JSON.stringify([original, patch]);
  const result = strategicMerge(original, patch, "Pod");
  assert.equal(result["metadata"], original["metadata"]);
  assert.equal(JSON.stringify([original, patch]), before);
});
