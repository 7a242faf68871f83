import assert from "node:assert/strict";
import { isEmptySelector, selectorMatches } from "./selector.ts";

Deno.test("isEmptySelector: no requirement of either kind", () => {
  assert.equal(isEmptySelector(null), true);
  assert.equal(isEmptySelector({}), true);
  assert.equal(isEmptySelector({ matchLabels: {}, matchExpressions: [] }), true);
  assert.equal(isEmptySelector({ matchLabels: { a: "1" } }), false);
  assert.equal(isEmptySelector({ matchExpressions: [{ key: "a", operator: "Exists" }] }), false);
});

Deno.test("selectorMatches: reports the problem of an invalid selector", () => {
  const { problem } = selectorMatches({ matchExpressions: [{ key: "a", operator: "Has" }] }, {});
  assert.equal(problem, `"Has" is not a label selector operator (In, NotIn, Exists, DoesNotExist)`);
  assert.equal(selectorMatches("text", {}).problem, "A label selector must be a mapping");
});
