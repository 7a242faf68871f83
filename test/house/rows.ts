/** Tables in documents whose rows lead to files and to texts in them. */
import { filesBelow, read } from "./source.ts";

/** A row: what it is about, a file of the checkout, and a text that is in the file. */
export interface Row {
  readonly what: string;
  readonly file: string;
  readonly text: string;
}

/** The rows of all tables in a part of a document, without their heads. */
export function rowLines(part: string): string[] {
  return part.split(/\n(?!\|)/).flatMap((block) => block.split("\n").filter((line) => line.startsWith("|")).slice(2));
}

/** `undefined` for a row of another form. */
function parseRow(line: string): Row | undefined {
  const [, what, file, text] = /^\| *([^|]+?) *\| *`([^`|]+)` *\| *`([^`]+)` *\|/.exec(line) ?? [];
  return what === undefined || file === undefined || text === undefined ? undefined : { what, file, text };
}

/** Why a row is wrong; `undefined` if it is right. */
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

/** What is wrong with the rows of a part of a document. */
export function objections(part: string): string[] {
  const files = new Set(["src", "test", "tools", "docs"].flatMap(filesBelow));
  return rowLines(part).map((line) => objection(line, files, read)).filter((reason) => reason !== undefined);
}
