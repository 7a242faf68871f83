import assert from "node:assert/strict";
import { decode } from "../../kube/mod.ts";
import { isMap } from "../../base/value.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { conform } from "./conform.ts";

function conformed(text: string) {
  const manifest = parseYaml(text);
  assert.ok(isMap(manifest));
  return conform(manifest, decode(manifest, "Pod").value, "Pod");
}

Deno.test("a null in a map of strings stays: kubectl apply removes the key, but not one with an empty text", () => {
  const before = parseYaml("metadata: {labels: {a: }}\nspec: {nodeSelector: {b: null}}\n");
  const { manifest, misread } = conformed("metadata: {labels: {a: }}\nspec: {nodeSelector: {b: null}}\n");
  assert.deepEqual(manifest, before);
  assert.deepEqual(misread, []);
});

Deno.test("a boolean in a map of strings becomes a text, with a warning", () => {
  const { manifest, misread } = conformed("metadata: {labels: {a: true}}\n");
  assert.deepEqual(manifest, parseYaml('metadata: {labels: {a: "true"}}\n'));
  assert.deepEqual(misread.map(({ path }) => path), [["metadata", "labels", "a"]]);
});
