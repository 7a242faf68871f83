/** Parses the pod's labels and annotations in the file format of the downward API: `key="quoted value"`. */
import { unquote } from "../../../golang/unquote.ts";

/** Matches a Go string literal whose escapes are not checked yet. */
const LITERAL = /^(?:`[^`]*`|"(?:[^"\\]|\\.)*")$/;

/** Parses a file, and ignores lines without `=`. Returns a string that describes the problem if a line is invalid. */
export function parseDownwardApi(text: string): Map<string, string> | string {
  const values = new Map<string, string>();
  for (const line of text.split("\n")) {
    const equals = line.indexOf("=");
    if (equals < 0) continue;
    const literal = line.slice(equals + 1);
    const value = LITERAL.test(literal) ? unquote(literal) : undefined;
    if (value === undefined) return `the value of "${line.slice(0, equals)}" is not a quoted string`;
    values.set(line.slice(0, equals), value.toWellFormed());
  }
  return values;
}
