import type { Value } from "../../base/value.ts";
import type { Editing, Slot } from "./editing.ts";
import { itemLines, spaces } from "../write/emit.ts";
import { leadingStart, linesOf, startsLine, tailEnd } from "./line_layout.ts";
import { type Match, matchItems } from "./match_items.ts";
import type { ListNode } from "../node.ts";
import { skipBlank } from "../scan.ts";

/** Edits, removes and inserts items of a block list. Replaces the list if it keeps no item. */
export function editBlockList(editor: Editing, node: ListNode, next: readonly Value[], slot: Slot): void {
  const match = matchItems(node.value, next);
  const dashes = dashesOf(editor.text, node);
  if (match.kept.every((index) => index === undefined) || dashes === undefined) {
    editor.replace(node, [...next], slot);
    return;
  }
  const plan = { next, match, moved: movedTexts(editor, node, dashes, { next, match }) };
  removeItems(editor, node, dashes, plan);
  insertAndEdit(editor, node, dashes, plan);
}

/** The offsets of the dashes of a block list. */
function dashesOf(text: string, node: ListNode): number[] | undefined {
  const dashes: number[] = [];
  let at = node.start;
  for (const item of node.items) {
    at = skipBlank(text, at);
    if (text[at] !== "-") return undefined;
    dashes.push(at);
    at = item.end;
  }
  return dashes;
}

function removeItems(
  editor: Editing,
  node: ListNode,
  dashes: readonly number[],
  { match, moved }: Plan,
): void {
  const { lines, edits } = editor;
  const kept = new Set(match.kept);
  const first = dashes[0] ?? node.start;
  const firstKept = dashes.find((_, index) => kept.has(index)) ?? first;
  const inline = !startsLine(lines, first);
  node.items.forEach((item, index) => {
    const dash = dashes[index] ?? first;
    if (kept.has(index)) return;
    const isMoved = moved.has(index);
    if (!isMoved) editor.forget(item);
    if (!inline || dash > firstKept) {
      edits.remove(...linesOf(lines, { start: dash, node: item, keepsComments: editor.keepsComments && !isMoved }));
    } // The first dash is on the line of an outer dash: the first item that stays moves there.
    else if (index === 0) edits.remove(first, firstKept);
  });
}

interface Plan {
  readonly next: readonly Value[];
  readonly match: Match;
  /** The text of each item that moves, by its old index. */
  readonly moved: ReadonlyMap<number | undefined, string>;
}

/**
 * The texts of moved items, with their comments. Excludes an item on the line of an outer dash, because its indentation
 * is not white space.
 */
function movedTexts(
  editor: Editing,
  node: ListNode,
  dashes: readonly number[],
  { next, match }: Pick<Plan, "next" | "match">,
): ReadonlyMap<number | undefined, string> {
  const { lines } = editor;
  const texts = new Map<number | undefined, string>();
  next.forEach((value, position) => {
    const index = match.moved[position];
    const [item, dash] = index === undefined ? [] : [node.items[index], dashes[index]];
    if (item === undefined || dash === undefined || !startsLine(lines, dash)) return;
    const [from, to] = linesOf(lines, { start: dash, node: item, keepsComments: false });
    const slot: Slot = { kind: "item", column: lines.column(dash), after: dash + 1 };
    texts.set(index, editor.editedText(item, value, { slot, from, to }));
  });
  return texts;
}

function insertAndEdit(editor: Editing, node: ListNode, dashes: readonly number[], plan: Plan): void {
  const { lines, edits, layout } = editor;
  const first = dashes[0] ?? node.start;
  const column = lines.column(first);
  const inline = !startsLine(lines, first);
  const top = inline ? first : leadingStart(lines, first);
  let before: number | undefined;
  plan.next.forEach((value, position) => {
    const index = plan.match.kept[position];
    const item = index === undefined ? undefined : node.items[index];
    if (item !== undefined && index !== undefined) {
      editor.edit(item, value, { kind: "item", column, after: (dashes[index] ?? first) + 1 });
      before = tailEnd(lines, item, column + 1);
      return;
    }
    const written = plan.moved.get(plan.match.moved[position]) ?? itemLines(value, column, layout);
    if (before !== undefined) edits.insert(before, written);
    else if (inline) edits.insert(top, written.slice(column) + spaces(column));
    else edits.insert(top, written);
  });
}
