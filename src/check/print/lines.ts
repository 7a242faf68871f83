/** Formats lines of a given width. */
import { wrappedAround } from "../../base/text/mod.ts";
import type { Line } from "../advice/text.ts";

/** Width of lines, in columns. `undefined` leaves lines unwrapped. */
export type Width = number | undefined;

/** Replaces control characters, because text from the cluster or a file must not control the terminal. */
export function printable(text: string): string {
  // deno-lint-ignore no-control-regex -- these characters are removed
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}

/** Wraps and indents text. Lines after the first are indented by two more columns. */
export function block(text: string, indent: string, width: Width): readonly string[] {
  if (width === undefined) return [`${indent}${printable(text)}`];
  const [first = "", ...rest] = wrappedAround(printable(text), width - indent.length - 2);
  return [`${indent}${first}`, ...rest.map((line) => `${indent}  ${line}`)];
}

/** Indents advice. Each command is on its own line and is not wrapped. */
export function adviceBlock(lines: readonly Line[], indent: string, width: Width): readonly string[] {
  return lines.flatMap(({ text, isCommand }) => {
    return isCommand ? [`${indent}  ${printable(text)}`] : block(text, indent, width);
  });
}
