import type { ValueMap } from "../../value.ts";
import type { Editing, Slot } from "./editing.ts";
import { entryLines } from "../write/emit.ts";
import { leadingStart, startsLine, tailEnd } from "./line_layout.ts";
import type { MapEntry, MapNode } from "../node.ts";
import { columnOf, lineStart } from "../position.ts";
import { sameValue } from "../../same_value.ts";

/** Edits, removes and appends keys of a block map; replaces the map if no key stays. */
export function editBlockMap(editor: Editing, node: MapNode, next: ValueMap, slot: Slot): void {
  const kept = node.entries.filter((entry) => entry.key === undefined || entry.key in next);
  const slots = node.entries.map((entry) => entrySlot(editor.text, entry));
  if (kept.length === 0 || slots.includes(undefined)) {
    editor.replace(node, next, slot);
    return;
  }
  removeEntries(editor, node, next);
  node.entries.forEach((entry, index) => {
    const place = slots[index];
    if (place === undefined || !isLast(node, index)) return;
    if (entry.key !== undefined && entry.key in next) {
      editor.edit(entry.node, next[entry.key] ?? null, place);
    }
  });
  appendEntries(editor, node, next);
}

/** The position of a key's value; `undefined` for `? ` keys. */
function entrySlot(text: string, entry: MapEntry): Slot | undefined {
  let colon = entry.keyNode.end;
  while (text[colon] === " " || text[colon] === "\t") colon++;
  if (text[colon] !== ":") return undefined;
  const column = columnOf(text, entry.keyNode.outer);
  // After `? key` the value starts with a `:` on its own line.
  const explicit = /\?\s+$/.test(text.slice(lineStart(text, entry.keyNode.outer), entry.keyNode.outer));
  return explicit ? undefined : { kind: "entry", column, after: colon + 1 };
}

/** Whether this is the last entry of its key, which is the one that counts. */
function isLast(node: MapNode, index: number): boolean {
  const key = node.entries[index]?.key;
  return !node.entries.some((entry, other) => other > index && entry.key === key);
}

function removeEntries(editor: Editing, node: MapNode, next: ValueMap): void {
  const { text, edits } = editor;
  const firstKept = node.entries.findIndex((entry) => entry.key === undefined || entry.key in next);
  node.entries.forEach((entry, index) => {
    if (entry.key === undefined || entry.key in next) return;
    editor.forget(entry.node);
    const start = entry.keyNode.outer;
    if (!startsLine(text, node.entries[0]?.keyNode.outer ?? start) && index < firstKept) {
      // The first key is on the line of a dash: the first key that stays moves there.
      if (index === 0) edits.remove(start, node.entries[firstKept]?.keyNode.outer ?? start);
      return;
    }
    const isHeader = node === editor.root && index === 0;
    const from = isHeader ? lineStart(text, start) : leadingStart(text, start);
    edits.remove(from, tailEnd(text, entry.node, columnOf(text, start) + 1));
  });
}

function appendEntries(editor: Editing, node: MapNode, next: ValueMap): void {
  const { text, edits, layout } = editor;
  const column = columnOf(text, node.start);
  const written = new Set(node.entries.map((entry) => entry.key));
  let lines = "";
  for (const [key, value] of Object.entries(next)) {
    const merged = key in node.value && sameValue(node.value[key] ?? null, value);
    if (!written.has(key) && !merged) lines += entryLines(key, value, column, layout);
  }
  if (lines !== "") edits.insert(tailEnd(text, node, Math.max(1, column)), lines);
}
