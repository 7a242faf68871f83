import assert from "node:assert/strict";
import { columnsOf } from "./terminal.ts";
import { fakeWorld } from "../../test/support/fake_world.ts";

Deno.test("columnsOf(): COLUMNS, then the terminal, then 80", () => {
  const terminal = { terminal: true, columns: 40 };
  assert.equal(columnsOf(fakeWorld({})), 80);
  assert.equal(columnsOf(fakeWorld(terminal)), 40);
  assert.equal(columnsOf(fakeWorld({ ...terminal, env: { COLUMNS: "120" } })), 120);
  for (const odd of ["", "0", "wide", "-1"]) {
    assert.equal(columnsOf(fakeWorld({ ...terminal, env: { COLUMNS: odd } })), 40, odd);
  }
});
