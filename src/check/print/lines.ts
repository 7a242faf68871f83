/** Formats lines of a given width. */
import { visible, withoutCommand, wrappedAround } from "../../base/text/mod.ts";
import type { Line } from "../advice/text.ts";

/** Width of lines, in columns. `undefined` leaves lines unwrapped. */
export type Width = number | undefined;

/** Returns text from the cluster or a file on one line, which controls neither a terminal nor the log of a CI system. */
export function printable(text: string): string {
  return visible(text.replaceAll(/[\t\r\n]/g, " "));
}

/** Wraps and indents text. Lines after the first are indented by two more columns. */
export function block(text: string, indent: string, width: Width): readonly string[] {
  if (width === undefined) return [withoutCommand(`${indent}${printable(text)}`)];
  const [first = "", ...rest] = wrappedAround(printable(text), width - indent.length - 2);
  return [`${indent}${first}`, ...rest.map((line) => `${indent}  ${line}`)].map(withoutCommand);
}

/** Indents advice. Each command is on its own line and is not wrapped. */
export function adviceBlock(lines: readonly Line[], indent: string, width: Width): readonly string[] {
  return lines.flatMap(({ text, isCommand }) => {
    return isCommand ? [`${indent}  ${printable(text)}`] : block(text, indent, width);
  });
}
