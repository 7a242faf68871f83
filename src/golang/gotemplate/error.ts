import { MeshError } from "../../base/errors.ts";
import { byteLength } from "../go_bytes.ts";

/**
 * Thrown if a template cannot be parsed or executed. The message is the text of Go's package text/template. The place has
 * a column, in bytes from 1, only for errors of execution, as in Go.
 */
export class TemplateError extends MeshError {}

/** Line (from 1) and column (bytes, from 0 as Go counts) of an offset in a text. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: byteLength(lines.at(-1) ?? "") };
}
