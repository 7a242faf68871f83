import type { Block, Layout } from "./emit.ts";
import { needsEscape } from "./scalar_text.ts";

/**
 * A string of several lines as a literal block under a key or dash at `column`; `undefined` if it has one line or needs
 * escapes. A first line that begins with white space needs the indentation said in the header.
 */
export function literalBlock(value: string, column: number, layout: Layout): Block | undefined {
  if (!value.includes("\n") || /^\n*$/.test(value) || needsEscape(value)) return undefined;
  if (!layout.keepBlocks && value.endsWith("\n\n")) return undefined;
  const indicator = /^\s/.test(value) ? String(layout.step) : "";
  // Each line but empty ones is indented; trailing line breaks are part of the text only after `+`.
  const indent = " ".repeat(column + layout.step);
  const content = value.endsWith("\n") ? value.slice(0, -1) : value;
  const body = content.split("\n").map((line) => (line === "" ? "" : indent + line) + layout.eol).join("");
  return { head: `|${indicator}${chomping(value)}`, body };
}

function chomping(value: string): string {
  if (value.endsWith("\n\n")) return "+";
  return value.endsWith("\n") ? "" : "-";
}
