import assert from "node:assert/strict";
import { columns, columnsBeforeText, columnsWithin } from "./columns.ts";

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

const TEXTS = [["NAME", "PORT", "WHY"], ["web", "80", "no process listens on this port"], ["b", "9", "-"]];

Deno.test("the text in the last column is wrapped beside the others, or below its row if they leave too little", () => {
  assert.equal(columnsBeforeText(TEXTS, Infinity), columns(TEXTS));
  assert.equal(
    columnsBeforeText(TEXTS, 36),
    "NAME  PORT  WHY\nweb   80    no process listens on\n            this port\nb     9     -\n",
  );
  const below = "NAME  PORT\n    WHY\nweb   80\n    no process listens on this\n    port\nb     9\n";
  assert.equal(columnsBeforeText(TEXTS, 35), below.replace("this\n    port", "this port"));
  assert.equal(columnsBeforeText(TEXTS, 30), below);
  assert.equal(
    columnsBeforeText([["  a", "text ".repeat(3) + "long".repeat(5)]], 24),
    `  a\n      text text text\n      ${"long".repeat(5)}\n`,
  );
});

Deno.test("columns that are too wide even without their text become blocks, if they have a header", () => {
  assert.equal(columnsBeforeText(TEXTS, 9), columnsWithin(TEXTS, 9));
  assert.equal(columnsBeforeText([["name", "field", "text"]], 9, { hasHeader: false }), "name  field\n    text\n");
});

Deno.test("a character that is two columns wide moves no column", () => {
  assert.equal(columns([["商品", "B"], ["long", ""]]), "商品  B\nlong\n");
  assert.equal(columnsWithin([["A", "B"], ["商品", "b"]], 6), "商品\n  b  b\n");
});
