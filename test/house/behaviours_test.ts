/** The table of behaviours in docs/architecture.md leads to files and symbols that exist. */
import assert from "node:assert/strict";
import { objection, objections, rowLines } from "./rows.ts";
import { read } from "./source.ts";

const DOCUMENT = "docs/architecture.md";
const HEADING = "## Twenty behaviours";

/** What stands below the heading. */
function section(document: string): string {
  const [, after = ""] = document.split(`${HEADING}\n`);
  return after.split(/^#/m)[0] ?? "";
}

Deno.test(`each row of "${HEADING}" names a file and a symbol in it`, () => {
  const part = section(read(DOCUMENT));
  assert.equal(rowLines(part).length, 20);
  assert.deepEqual(objections(part), []);
});

Deno.test("a row of another form, with another file or another symbol is an error", () => {
  const document = `# A\n\n${HEADING}\n\n| behaviour | file | where |\n|---|---|---|\n| a \`b\` | c | d |\n` +
    "| why | `src/no.ts` | `a` |\n| why | `src/a.ts` | `b()` |\n| why | `src/a.ts` | `a()` |\n\n## B\n\n| x |\n|-|\n| y |\n";
  const reasons = rowLines(section(document)).map((line) =>
    objection(line, new Set(["src/a.ts"]), () => "function a() {}")
  );
  assert.deepEqual(reasons.map((reason) => reason?.replace(/: .*/, "") ?? "right"), [
    "the columns are",
    '"why"',
    '"why"',
    "right",
  ]);
});
