import assert from "node:assert/strict";
import { fakeWorld } from "../../core/world/mod.ts";
import { widthOf } from "./terminal.ts";

Deno.test("the width is that of the terminal, 80 columns at least, and COLUMNS wins", () => {
  assert.equal(widthOf(fakeWorld({})), 80);
  assert.equal(widthOf(fakeWorld({ terminal: true, columns: 160 })), 160);
  assert.equal(widthOf(fakeWorld({ terminal: true, columns: 40 })), 80);
  assert.equal(widthOf(fakeWorld({ terminal: true, columns: 160, env: { COLUMNS: "120" } })), 120);
  for (const odd of ["", "0", "wide", "-1"]) assert.equal(widthOf(fakeWorld({ env: { COLUMNS: odd } })), 80);
});
