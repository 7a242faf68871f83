/** The recipes of CONTRIBUTING.md lead to files and texts that exist. */
import assert from "node:assert/strict";
import { objections, rowLines } from "./rows.ts";
import { read } from "./source.ts";

const [, PART = ""] = read("CONTRIBUTING.md").split("## Recipes\n");
const RECIPES = (PART.split(/^## /m)[0] ?? "").split(/^### /m).slice(1);

/** What people add, as the headings begin. */
const ADDED = [
  "A flag",
  "A check",
  "An annotation",
  "A field of ProxyConfig",
  "A rule of iptables",
  "An exit code",
  "A sprig function",
  "A metric",
  "A filter that `explain` knows",
  "A new Istio release",
];

Deno.test("CONTRIBUTING.md has a recipe for each thing that people add", () => {
  assert.deepEqual(RECIPES.map((recipe) => recipe.split(":")[0]), ADDED);
});

for (const recipe of RECIPES) {
  const [title = ""] = recipe.split("\n");
  Deno.test(`the recipe "${title}" names files, and texts in them`, () => {
    assert.ok(rowLines(recipe).length >= 5);
    assert.deepEqual(objections(recipe), []);
  });
}
