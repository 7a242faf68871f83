/** The table of behaviours in docs/architecture.md leads to files and symbols that exist. */
import assert from "node:assert/strict";
import { filesBelow, read } from "./source.ts";

const DOCUMENT = "docs/architecture.md";
const HEADING = "## Twenty behaviours";

interface Row {
  readonly behaviour: string;
  readonly file: string;
  readonly symbol: string;
}

/** The rows below the heading, without the head of the table. */
function rowsOf(document: string): string[] {
  const [, section = ""] = document.split(`${HEADING}\n`);
  const [body = ""] = section.split(/^#/m);
  return body.split("\n").filter((line) => line.startsWith("|")).slice(2);
}

/** `undefined` for a row of another form. */
function parseRow(line: string): Row | undefined {
  const [, behaviour, file, symbol] = /^\| *([^|]+?) *\| *`([^`|]+)` *\| *`([^`]+)` *\|/.exec(line) ?? [];
  return behaviour === undefined || file === undefined || symbol === undefined
    ? undefined
    : { behaviour, file, symbol };
}

/** Why a row is wrong; `undefined` if it is right. */
function objection(line: string, files: ReadonlySet<string>, text: (file: string) => string): string | undefined {
  const row = parseRow(line);
  if (row === undefined) return `the columns are: text, \`file\`, \`symbol\`: ${line}`;
  if (!files.has(row.file)) return `"${row.behaviour}": there is no file "${row.file}"`;
  return text(row.file).includes(row.symbol) ? undefined : `"${row.behaviour}": "${row.symbol}" is not in ${row.file}`;
}

Deno.test(`each row of "${HEADING}" names a file and a symbol in it`, () => {
  const rows = rowsOf(read(DOCUMENT));
  assert.ok(rows.length > 0, `${DOCUMENT} has no table below "${HEADING}"`);
  const files = new Set(["src", "test", "tools"].flatMap(filesBelow));
  assert.deepEqual(rows.map((line) => objection(line, files, read)).filter((reason) => reason !== undefined), []);
});

Deno.test("a row of another form, with another file or another symbol is an error", () => {
  const document = `# A\n\n${HEADING}\n\n| behaviour | file | where |\n|---|---|---|\n| a \`b\` | c | d |\n` +
    "| why | `src/no.ts` | `a` |\n| why | `src/a.ts` | `b()` |\n| why | `src/a.ts` | `a()` |\n\n## B\n\n| x |\n|-|\n| y |\n";
  const reasons = rowsOf(document).map((line) => objection(line, new Set(["src/a.ts"]), () => "function a() {}"));
  assert.deepEqual(reasons.map((reason) => reason?.replace(/: .*/, "") ?? "right"), [
    "the columns are",
    '"why"',
    '"why"',
    "right",
  ]);
});
