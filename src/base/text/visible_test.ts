import assert from "node:assert/strict";
import { visible, withoutCommand } from "./visible.ts";

Deno.test("visible() writes escapes, line breaks and directions as text, and keeps all else", () => {
  assert.equal(visible("a\x1b[31mb\nc\u202ed\x9be"), "a\\u001b[31mb\\u000ac\\u202ed\\u009be");
  assert.equal(visible("äöü 日本 🙂 \\"), "äöü 日本 🙂 \\");
  assert.equal(visible("\ud800x"), "\\ud800x");
});

Deno.test("withoutCommand() escapes the start of what GitHub Actions and Azure Pipelines run", () => {
  const lines = ["::error file=a::b", "  ##vso[x]", "##[group]a", "::1:80", "# a", "a ::error::"];
  assert.deepEqual(lines.map(withoutCommand), [
    "\\u003a:error file=a::b",
    "  \\u0023#vso[x]",
    "\\u0023#[group]a",
    ...lines.slice(3),
  ]);
});
