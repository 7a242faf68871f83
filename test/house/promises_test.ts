/** docs/inject.md names a test for each promise, and the test exists. */
import assert from "node:assert/strict";
import { read } from "./source.ts";

const ROW = /^\| .+ \| `(?<file>[^`]+_test\.ts)`: (?<name>.+) \|$/gm;

Deno.test("each promise of docs/inject.md names a test that exists", () => {
  const section = read("docs/inject.md").split("## Promises, and the tests that hold them")[1]?.split("\n## ")[0] ?? "";
  const rows = [...section.matchAll(ROW)].map(({ groups }) =>
    [groups?.["file"] ?? "", groups?.["name"] ?? ""] as const
  );
  assert.equal(
    rows.length,
    section.split("\n").filter((line) => line.startsWith("| ")).length - 1,
    "a row has no test",
  );
  assert.ok(rows.length >= 10);
  for (const [file, name] of rows) {
    const names = [...read(file).matchAll(/Deno\.test\(\s*(["`])(.+?)\1/g)].map(([, , text = ""]) => text);
    // "..." stands for a value that a name contains.
    const isThere = names.some((text) => text.replaceAll(/\$\{[^}]*\}/g, "...") === name);
    assert.ok(isThere, `${file} has no test "${name}"`);
  }
});
