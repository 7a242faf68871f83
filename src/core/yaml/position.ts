import type { Place } from "../errors.ts";
import type { SourceDocument } from "./source_document.ts";

const SNIPPET_WIDTH = 100;
const BOM = "\uFEFF";

/** Where a line begins: the offset after the line break before `offset` (and after a byte order mark). */
export function lineStart(text: string, offset: number): number {
  const start = offset <= 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
  return start === 0 && text.startsWith(BOM) ? Math.min(1, offset) : start;
}

/** The offset after the line break that ends the line of `offset`; the end of the text if there is none. */
export function nextLine(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end + 1;
}

/** The column of an offset, from 0. */
export function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

/** How many line breaks a text has before an offset. */
export function countLines(text: string, end: number): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** The place of an offset in a document: file, document, line and column of the file, and the line with a caret. */
export function placeOf(doc: SourceDocument, offset: number): Place {
  const column = columnOf(doc.text, offset) + 1;
  const line = doc.line + countLines(doc.text, offset);
  const spot = { document: doc.index, line, column, snippet: snippet(doc.text, offset) };
  return doc.file === "" ? spot : { file: doc.file, ...spot };
}

/** The line of an offset and, under it, a caret; of a long line the part around the offset. */
function snippet(text: string, offset: number): string {
  const start = lineStart(text, offset);
  const line = text.slice(start, nextLine(text, offset)).replace(/[\r\n]+$/, "");
  const column = Math.min(offset - start, line.length);
  const from = column < SNIPPET_WIDTH ? 0 : column - SNIPPET_WIDTH / 2;
  const part = line.slice(from, from + SNIPPET_WIDTH);
  // Tabs are kept under tabs, so that the caret stands right at any tab width.
  const indent = part.slice(0, column - from).replace(/[^\t]/g, " ");
  return `${part}\n${indent}^`;
}

/** A path as a field: `spec.containers[0].image`, keys that are no names in brackets: `annotations["a.b/c"]`. */
export function fieldText(path: readonly (string | number)[]): string {
  return path.map((step, index) => {
    if (typeof step === "number") return `[${step}]`;
    if (!/^[A-Za-z_][\w-]*$/.test(step)) return `[${JSON.stringify(step)}]`;
    return index === 0 ? step : `.${step}`;
  }).join("");
}
