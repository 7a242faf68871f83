/** Lines of a given width. */
import { wrappedAround } from "../../base/text/mod.ts";
import type { Line } from "../advice/text.ts";

/** `undefined`: lines are not broken. */
export type Width = number | undefined;

/** Text from the cluster or a file must not control the terminal. */
export function printable(text: string): string {
  // deno-lint-ignore no-control-regex -- these characters are removed
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}

/** An indented text; lines after the first are indented by two more columns. */
export function block(text: string, indent: string, width: Width): readonly string[] {
  if (width === undefined) return [`${indent}${printable(text)}`];
  const [first = "", ...rest] = wrappedAround(printable(text), width - indent.length - 2);
  return [`${indent}${first}`, ...rest.map((line) => `${indent}  ${line}`)];
}

/** Advice: its commands stand alone and whole on their lines. */
export function adviceBlock(lines: readonly Line[], indent: string, width: Width): readonly string[] {
  return lines.flatMap(({ text, isCommand }) => {
    return isCommand ? [`${indent}  ${printable(text)}`] : block(text, indent, width);
  });
}
