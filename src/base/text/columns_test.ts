import assert from "node:assert/strict";
import { columns, columnsWithin } from "./columns.ts";

const ROWS = [["NAME", "PORT", "SINCE"], ["web", "80", "a while ago"], ["", "-", "now"]];

Deno.test("columns are as wide as their widest cell, and lines end without spaces", () => {
  assert.equal(columns([["A", "B"], ["long", ""]]), "A     B\nlong\n");
});

Deno.test("rows that fit are a table; else each is a block without its empty cells", () => {
  assert.equal(columnsWithin(ROWS, 23), columns(ROWS));
  assert.equal(columnsWithin(ROWS, 22), "web\n  port   80\n  since  a while ago\n\n-\n  since  now\n");
  assert.equal(columnsWithin(ROWS.slice(0, 2), 18), "web\n  port   80\n  since  a while\n         ago\n");
});

Deno.test("a head alone stays a head", () => {
  assert.equal(columnsWithin([["NAME", "PORT"]], 5), "NAME  PORT\n");
});
