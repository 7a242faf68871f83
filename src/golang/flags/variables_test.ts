import assert from "node:assert/strict";
import { flag } from "./flag.ts";
import { variablesAsFlags } from "./parse.ts";

Deno.test("variables become flags; an empty one counts as unset, and the first name wins", () => {
  const groups = { "": { a: flag("--one A", "", { env: ["NEW", "OLD"] }), b: flag("--two", "", { env: ["TWO"] }) } };
  assert.deepEqual(variablesAsFlags(groups, { OLD: "x y", TWO: "" }), ["--one=x y"]);
  assert.deepEqual(variablesAsFlags(groups, { OLD: "x", NEW: "n", TWO: "false" }), ["--one=n", "--two=false"]);
  assert.deepEqual(variablesAsFlags(groups, {}), []);
});
