import type { ValueMap } from "../../base/value.ts";
import type { Editing, Slot } from "./editing.ts";
import { entryLines } from "../write/emit.ts";
import { linesOf, startsLine, tailEnd } from "./line_layout.ts";
import type { MapEntry, MapNode } from "../node.ts";
import type { Lines } from "../position.ts";
import { sameValue } from "../../base/values/mod.ts";

/** Edits, removes and appends keys of a block map; replaces the map if no key stays. */
export function editBlockMap(editor: Editing, node: MapNode, next: ValueMap, slot: Slot): void {
  const kept = node.entries.filter((entry) => entry.key === undefined || entry.key in next);
  const slots = node.entries.map((entry) => entrySlot(editor.lines, entry));
  if (kept.length === 0 || slots.includes(undefined)) {
    editor.replace(node, next, slot);
    return;
  }
  removeEntries(editor, node, next);
  const last = lastEntries(node);
  node.entries.forEach((entry, index) => {
    const place = slots[index];
    if (place === undefined || last.get(entry.key) !== index) return;
    if (entry.key !== undefined && entry.key in next) {
      editor.edit(entry.node, next[entry.key] ?? null, place);
    }
  });
  appendEntries(editor, node, next);
}

/** The position of a key's value; `undefined` for `? ` keys. */
function entrySlot(lines: Lines, entry: MapEntry): Slot | undefined {
  const { text } = lines;
  let colon = entry.keyNode.end;
  while (text[colon] === " " || text[colon] === "\t") colon++;
  if (text[colon] !== ":") return undefined;
  const column = lines.column(entry.keyNode.outer);
  // After `? key` the value starts with a `:` on its own line.
  const explicit = /\?\s+$/.test(text.slice(lines.start(entry.keyNode.outer), entry.keyNode.outer));
  return explicit ? undefined : { kind: "entry", column, after: colon + 1 };
}

/** The index of the last entry of each key, which is the one that counts. */
export function lastEntries(node: MapNode): ReadonlyMap<string | undefined, number> {
  return new Map(node.entries.map(({ key }, index) => [key, index]));
}

function removeEntries(editor: Editing, node: MapNode, next: ValueMap): void {
  const { lines, edits } = editor;
  const firstKept = node.entries.findIndex((entry) => entry.key === undefined || entry.key in next);
  node.entries.forEach((entry, index) => {
    if (entry.key === undefined || entry.key in next) return;
    editor.forget(entry.node);
    const start = entry.keyNode.outer;
    if (!startsLine(lines, node.entries[0]?.keyNode.outer ?? start) && index < firstKept) {
      // The first key is on the line of a dash: the first key that stays moves there.
      if (index === 0) edits.remove(start, node.entries[firstKept]?.keyNode.outer ?? start);
      return;
    }
    const isHeader = node === editor.root && index === 0;
    const [from, to] = linesOf(lines, { start, node: entry.node, keepsComments: editor.keepsComments });
    edits.remove(isHeader ? lines.start(start) : from, to);
  });
}

function appendEntries(editor: Editing, node: MapNode, next: ValueMap): void {
  const { lines, edits, layout } = editor;
  const column = lines.column(node.start);
  const written = new Set(node.entries.map((entry) => entry.key));
  let added = "";
  for (const [key, value] of Object.entries(next)) {
    const merged = key in node.value && sameValue(node.value[key] ?? null, value);
    if (!written.has(key) && !merged) added += entryLines(key, value, column, layout);
  }
  if (added !== "") edits.insert(tailEnd(lines, node, Math.max(1, column)), added);
}
