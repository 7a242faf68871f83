import type { Place } from "../base/errors.ts";
import { endOfLine } from "./scan.ts";
import type { SourceDocument } from "./source_document.ts";

const SNIPPET_WIDTH = 100;
const BOM = "\uFEFF";

/** The lines of a text. Finds all line starts once, so that a position in a very long line costs no more than others. */
export class Lines {
  /** The offset of each line. */
  #starts: readonly number[] | undefined;

  constructor(readonly text: string) {}

  /** The start of a line: the offset after the previous line break, and after a byte order mark. */
  start(offset: number): number {
    const start = this.#startAt(this.number(offset));
    return start === 0 && this.text.startsWith(BOM) ? Math.min(1, offset) : start;
  }

  /** The start of the next line, or the end of the text. */
  next(offset: number): number {
    return this.#startAt(this.number(offset) + 1);
  }

  /** The column of an offset, from 0. */
  column(offset: number): number {
    return offset - this.start(offset);
  }

  /** The line number of an offset, from 0. */
  number(offset: number): number {
    const starts = this.#starts ??= lineStarts(this.text);
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #startAt(line: number): number {
    return this.#starts?.[line] ?? this.text.length;
  }
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The number of line breaks before an offset. */
export function countLines(text: string, end = text.length): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** The position of an offset for messages: file, document, line, column, and the line's text with a caret. */
export function placeOf(doc: SourceDocument, offset: number, lines = new Lines(doc.text)): Place {
  const column = lines.column(offset) + 1;
  const line = doc.line + lines.number(offset);
  const spot = { document: doc.index, line, column, snippet: snippet(lines, offset) };
  return doc.file === "" ? spot : { file: doc.file, ...spot };
}

/** The line of an offset, with a caret below it. For a long line, only the part around the offset. */
function snippet(lines: Lines, offset: number): string {
  const { text } = lines;
  const start = lines.start(offset);
  const end = endOfLine(text, start);
  const column = Math.min(offset, end) - start;
  const from = column < SNIPPET_WIDTH ? 0 : column - SNIPPET_WIDTH / 2;
  const part = text.slice(start + from, Math.min(end, start + from + SNIPPET_WIDTH));
  // Tabs are kept in the caret's line, so that the caret is in the right place at any tab width.
  const indent = part.slice(0, column - from).replace(/[^\t]/g, " ");
  return `${part}\n${indent}^`;
}
