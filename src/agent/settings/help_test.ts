import assert from "node:assert/strict";
import { FLAG_LIST } from "./flags.ts";
import { agentHelpText } from "./help.ts";
import { VARIABLE_LIST } from "./variables.ts";

Deno.test("agentHelpText names every flag that does something, and every variable, once", () => {
  const lines = agentHelpText("kubectl mesh agent", "agent").split("\n");
  const flags = FLAG_LIST.filter(([, { retired }]) => retired === undefined).map(([, { long }]) => `  --${long} `);
  const variables = VARIABLE_LIST.map(({ env }) => `  ${env} `);
  for (const start of [...flags, ...variables]) {
    assert.equal(lines.filter((line) => line.startsWith(start)).length, 1, start);
  }
});

Deno.test("no two flags and no two variables have one name", () => {
  const longs = FLAG_LIST.map(([, { long }]) => long);
  assert.equal(new Set(longs).size, longs.length);
  assert.equal(new Set(VARIABLE_LIST.map(({ env }) => env)).size, VARIABLE_LIST.length);
});
