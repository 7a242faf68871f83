import assert from "node:assert/strict";
import { splitText } from "../../yaml/mod.ts";
import { colored, UnifiedDiff } from "./unified_diff.ts";

const FILE = "a: 1\n---\nb: 1\nc: 2\n---\nd: 3\n";

Deno.test("UnifiedDiff counts lines in the whole file, even after documents that have grown", async () => {
  const diff = await UnifiedDiff.loaded();
  const texts = splitText(FILE, "web.yaml").map((document) =>
    diff.of(document, document.text.replace(/^([bd]).*\n/m, "$1: 1\nmore: 2\n"))
  );
  assert.deepEqual(texts, [
    "",
    "--- web.yaml\tdocument 2\n+++ web.yaml\tdocument 2\n@@ -3,2 +3,3 @@\n b: 1\n+more: 2\n c: 2\n",
    "--- web.yaml\tdocument 3\n+++ web.yaml\tdocument 3\n@@ -6,1 +7,2 @@\n-d: 3\n+d: 1\n+more: 2\n",
  ]);
});

Deno.test("UnifiedDiff of another file starts anew; a missing last line break is shown", async () => {
  const diff = await UnifiedDiff.loaded();
  const [first] = splitText("a: 1\n", "a.yaml");
  const [second] = splitText("b: 1", "b.yaml");
  assert.ok(first !== undefined && second !== undefined);
  diff.of(first, "a: 1\nb: 2\nc: 3\n");
  assert.equal(
    diff.of(second, "b: 2"),
    "--- b.yaml\tdocument 1\n+++ b.yaml\tdocument 1\n@@ -1,1 +1,1 @@\n-b: 1\n\\ No newline at end of file\n" +
      "+b: 2\n\\ No newline at end of file\n",
  );
});

Deno.test("UnifiedDiff shows texts that share almost nothing as entirely replaced", async () => {
  const diff = await UnifiedDiff.loaded();
  const lines = (word: string) => Array.from({ length: 3_000 }, (_, index) => `${word}${index}: 1\n`).join("");
  const [document] = splitText(lines("a"), "a.yaml");
  assert.ok(document !== undefined);
  const text = diff.of(document, lines("b"));
  assert.ok(text.includes("@@ -1,3000 +1,3000 @@\n-a0: 1\n-a1: 1\n"), text.slice(0, 200));
});

Deno.test("colored() marks headers, places, added and removed lines", () => {
  const text = colored("--- a\n+++ a\n@@ -1 +1 @@\n same\n-old\n+new\n");
  assert.equal(
    text,
    "\u001b[1m--- a\u001b[22m\n\u001b[1m+++ a\u001b[22m\n\u001b[36m@@ -1 +1 @@\u001b[39m\n same\n" +
      "\u001b[31m-old\u001b[39m\n\u001b[32m+new\u001b[39m\n",
  );
});
