import { MeshError } from "../../base/errors.ts";
import { byteLength } from "./bytes.ts";

/** The position of a template error. */
export interface Spot {
  /** The name given to `parse`. */
  readonly template: string;
  readonly line: number;
  /** Column in bytes, from 1. Absent for parse errors, as in Go. */
  readonly column?: number;
}

/** Thrown if a template cannot be parsed or executed. The message is the text of Go's package text/template. */
export class TemplateError extends MeshError {
  readonly template: string;
  readonly line: number;
  readonly column: number | undefined;

  constructor(message: string, spot: Spot, cause?: unknown) {
    const place = spot.column === undefined ? { line: spot.line } : { line: spot.line, column: spot.column };
    super(message, cause === undefined ? { place } : { place, cause });
    this.template = spot.template;
    this.line = spot.line;
    this.column = spot.column;
  }
}

/** Line (from 1) and column (bytes, from 0 as Go counts) of an offset in a text. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf("\n") + 1;
  return { line: countLines(before), column: byteLength(before.slice(start)) };
}

/** 1 + the number of newlines. */
export function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}
