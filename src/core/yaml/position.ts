import type { Place } from "../errors.ts";
import type { SourceDocument } from "./source_document.ts";

const SNIPPET_WIDTH = 100;
const BOM = "\uFEFF";

/** The start of a line: the offset after the previous line break, and after a byte order mark. */
export function lineStart(text: string, offset: number): number {
  const start = offset <= 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
  return start === 0 && text.startsWith(BOM) ? Math.min(1, offset) : start;
}

/** The start of the next line, or the end of the text. */
export function nextLine(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end + 1;
}

/** The column of an offset, from 0. */
export function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

/** The number of line breaks before an offset. */
export function countLines(text: string, end = text.length): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** The place of an offset: file, document, line and column in the file, and the line with a caret. */
export function placeOf(doc: SourceDocument, offset: number): Place {
  const column = columnOf(doc.text, offset) + 1;
  const line = doc.line + countLines(doc.text, offset);
  const spot = { document: doc.index, line, column, snippet: snippet(doc.text, offset) };
  return doc.file === "" ? spot : { file: doc.file, ...spot };
}

/** The line of an offset with a caret below; only the part around the offset if the line is long. */
function snippet(text: string, offset: number): string {
  const start = lineStart(text, offset);
  const line = text.slice(start, nextLine(text, offset)).replace(/[\r\n]+$/, "");
  const column = Math.min(offset - start, line.length);
  const from = column < SNIPPET_WIDTH ? 0 : column - SNIPPET_WIDTH / 2;
  const part = line.slice(from, from + SNIPPET_WIDTH);
  // A tab below a tab keeps the caret in place at any tab width.
  const indent = part.slice(0, column - from).replace(/[^\t]/g, " ");
  return `${part}\n${indent}^`;
}
