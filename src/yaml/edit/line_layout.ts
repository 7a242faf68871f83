import { resolved, type ScalarNode, type YamlNode } from "../node.ts";
import type { Lines } from "../position.ts";
import type { Layout } from "../write/emit.ts";

/** Whether an offset follows only white space on its line. */
export function startsLine(lines: Lines, offset: number): boolean {
  return lines.text.slice(lines.start(offset), offset).trim() === "";
}

/** The offset of the line after a node. Comment lines indented by `column` or more belong to the node. */
export function tailEnd(lines: Lines, node: YamlNode, column: number): number {
  let at = contentEnd(lines, node);
  if (at !== lines.start(at)) at = lines.next(at);
  while (commentColumn(lines.text, at) >= column) at = lines.next(at);
  return at;
}

/** The start of a line, or of the comment lines directly above it at the same column. */
export function leadingStart(lines: Lines, offset: number): number {
  const column = lines.column(offset);
  let start = lines.start(offset);
  while (start > 0) {
    const above = lines.start(start - 1);
    if (above === start || commentColumn(lines.text, above) !== column) break;
    start = above;
  }
  return start;
}

/**
 * The lines of a node that begins at `start`: its content, comments above it at its column, and deeper comments
 * below it. `keepsComments` excludes the comments.
 */
export function linesOf(
  lines: Lines,
  { start, node, keepsComments }: { readonly start: number; readonly node: YamlNode; readonly keepsComments: boolean },
): readonly [from: number, to: number] {
  if (!keepsComments) return [leadingStart(lines, start), tailEnd(lines, node, lines.column(start) + 1)];
  return [lines.start(start), tailEnd(lines, node, Infinity)];
}

/** The end of a node's content. Excludes blank lines after a block scalar, unless the scalar keeps them. */
export function contentEnd(lines: Lines, node: YamlNode): number {
  const leaf = lastLeaf(node);
  if (leaf.kind !== "scalar" || !isBlockScalar(leaf) || leaf.keeps) return leaf.end;
  const first = lines.next(leaf.start);
  let end = leaf.end;
  while (end > first) {
    const line = lines.start(end - 1);
    if (lines.text.slice(line, end).trim() !== "") break;
    end = line;
  }
  return Math.max(end, first);
}

/** Whether a scalar is a `|` or `>` block. */
export function isBlockScalar(node: ScalarNode): boolean {
  return node.style === "literal" || node.style === "folded";
}

/** The layout of a document's text: spaces per level, indentation of lists, line breaks. */
export function layoutOf(lines: Lines, root: YamlNode | undefined): Layout {
  const found = { step: 0, listIndent: -1 };
  if (root !== undefined) findLayout(lines, root, found);
  const step = found.step === 0 ? 2 : found.step;
  const eol = /\r\n/.test(lines.text.slice(0, lines.next(0))) ? "\r\n" : "\n";
  return { step, listIndent: Math.max(0, found.listIndent), sortKeys: false, eol, keepBlocks: false };
}

function findLayout(lines: Lines, node: YamlNode, found: { step: number; listIndent: number }): void {
  const children = node.kind === "list"
    ? node.items
    : node.kind === "map"
    ? node.entries.map((entry) => entry.node)
    : [];
  for (const child of children) {
    if (found.step > 0 && found.listIndent >= 0) return;
    if (node.kind === "map" && !node.flow) noteIndent(lines, node.start, child, found);
    findLayout(lines, child, found);
  }
}

function noteIndent(lines: Lines, start: number, child: YamlNode, found: { step: number; listIndent: number }): void {
  if (child.kind === "scalar" || child.kind === "alias" || child.flow) return;
  const deeper = lines.column(child.start) - lines.column(start);
  if (child.kind === "map" && found.step === 0 && deeper > 0) found.step = deeper;
  if (child.kind === "list" && found.listIndent < 0 && deeper >= 0) found.listIndent = deeper;
}

function lastLeaf(node: YamlNode): YamlNode {
  if (node.kind === "alias" || node.kind === "scalar" || node.flow) return node;
  const last = node.kind === "list" ? node.items.at(-1) : node.entries.at(-1)?.node;
  return last === undefined ? resolved(node) : lastLeaf(last);
}

/** The column of a comment line; -1 for any other line. */
function commentColumn(text: string, start: number): number {
  let at = start;
  while (text[at] === " ") at++;
  return text[at] === "#" ? at - start : -1;
}
