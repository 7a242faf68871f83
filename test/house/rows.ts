/** Checks tables in documents whose rows name a file and a text in it. */
import { filesBelow, read } from "./source.ts";

/** A row of such a table: its subject, a file of the checkout, and a text in that file. */
export interface Row {
  readonly what: string;
  readonly file: string;
  readonly text: string;
}

/** Returns the rows of all tables in a part of a document, without table headers. */
export function rowLines(part: string): string[] {
  return part.split(/\n(?!\|)/).flatMap((block) => block.split("\n").filter((line) => line.startsWith("|")).slice(2));
}

/** Parses a row; `undefined` if it has a different form. */
function parseRow(line: string): Row | undefined {
  const [, what, file, text] = /^\| *([^|]+?) *\| *`([^`|]+)` *\| *`([^`]+)` *\|/.exec(line) ?? [];
  return what === undefined || file === undefined || text === undefined ? undefined : { what, file, text };
}

/** Returns why a row is wrong; `undefined` if it is right. */
export function objection(
  line: string,
  files: ReadonlySet<string>,
  text: (file: string) => string,
): string | undefined {
  const row = parseRow(line);
  if (row === undefined) return `the columns are: text, \`file\`, \`symbol\`: ${line}`;
  if (!files.has(row.file)) return `"${row.what}": there is no file "${row.file}"`;
  return text(row.file).includes(row.text) ? undefined : `"${row.what}": "${row.text}" is not in ${row.file}`;
}

/** Returns the problems of all rows in a part of a document. */
export function objections(part: string): string[] {
  const files = new Set(["src", "test", "tools", "docs"].flatMap(filesBelow));
  return rowLines(part).map((line) => objection(line, files, read)).filter((reason) => reason !== undefined);
}
