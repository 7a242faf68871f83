import assert from "node:assert/strict";
import { visible } from "./visible.ts";

Deno.test("visible() writes escapes, line breaks and directions as text, and keeps all else", () => {
  assert.equal(visible("a\x1b[31mb\nc\u202ed\x9be"), "a\\u001b[31mb\\u000ac\\u202ed\\u009be");
  assert.equal(visible("äöü 日本 🙂 \\"), "äöü 日本 🙂 \\");
  assert.equal(visible("\ud800x"), "\\ud800x");
});
