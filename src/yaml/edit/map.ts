import type { ValueMap } from "../../base/value.ts";
import { type Editing, inOldQuotes, type Slot } from "./editing.ts";
import { entryLines } from "../write/emit.ts";
import { linesOf, startsLine, tailEnd } from "./line_layout.ts";
import type { MapEntry, MapNode } from "../node.ts";
import type { Lines } from "../position.ts";
import { scalarText } from "../write/scalar_text.ts";
import { sameValue } from "../../base/values/mod.ts";

/** Edits, removes and appends keys of a block map. Replaces the map if it keeps no key. */
export function editBlockMap(editor: Editing, node: MapNode, next: ValueMap, slot: Slot): void {
  const names = newNames(node, next);
  const slots = node.entries.map((entry) => entrySlot(editor.lines, entry));
  if (names.every((name) => name === undefined) || slots.includes(undefined)) {
    editor.replace(node, next, slot);
    return;
  }
  removeEntries(editor, node, names);
  const last = lastEntries(node);
  node.entries.forEach((entry, index) => {
    const [place, name] = [slots[index], names[index]];
    if (place === undefined || last.get(entry.key) !== index || name === undefined || entry.key === undefined) return;
    renameKey(editor, entry, name);
    editor.edit(entry.node, next[name] ?? null, place);
  });
  appendEntries(editor, node, next, names);
}

/**
 * Returns, for each entry, its key in the new map; `undefined` for a removed entry, `""` for a merge `<<`. If a new key
 * replaces an old key, such as `httpGet` for `tcpSocket`, the entry's lines stay.
 */
export function newNames(node: MapNode, next: ValueMap): readonly (string | undefined)[] {
  const keys = Object.keys(next);
  const isUnique = Object.keys(node.value).length === node.entries.length;
  return node.entries.map(({ key }, index) => {
    if (key === undefined) return "";
    if (key in next) return key;
    const other = keys[index];
    return !isUnique || other === undefined || other in node.value ? undefined : other;
  });
}

/** Writes the new name of an entry. */
export function renameKey({ edits }: Editing, { key, keyNode }: MapEntry, name: string): void {
  if (name !== key) edits.replace(keyNode.start, keyNode.end, inOldQuotes(keyNode, name) ?? scalarText(name));
}

/** The position of a key's value; `undefined` for `? ` keys. */
function entrySlot(lines: Lines, entry: MapEntry): Slot | undefined {
  const { text } = lines;
  let colon = entry.keyNode.end;
  while (text[colon] === " " || text[colon] === "\t") colon++;
  if (text[colon] !== ":") return undefined;
  const column = lines.column(entry.keyNode.outer);
  // After `? key`, the `:` of the value is on a separate line.
  const explicit = /\?\s+$/.test(text.slice(lines.start(entry.keyNode.outer), entry.keyNode.outer));
  return explicit ? undefined : { kind: "entry", column, after: colon + 1 };
}

/** The index of the last entry of each key. The last duplicate of a key is the valid entry. */
export function lastEntries(node: MapNode): ReadonlyMap<string | undefined, number> {
  return new Map(node.entries.map(({ key }, index) => [key, index]));
}

function removeEntries(editor: Editing, node: MapNode, names: readonly (string | undefined)[]): void {
  const { lines, edits } = editor;
  const firstKept = names.findIndex((name) => name !== undefined);
  node.entries.forEach((entry, index) => {
    if (names[index] !== undefined) return;
    editor.forget(entry.node);
    const start = entry.keyNode.outer;
    if (!startsLine(lines, node.entries[0]?.keyNode.outer ?? start) && index < firstKept) {
      // The first key is on the line of a dash. If it is removed, the first kept key moves to that line.
      if (index === 0) edits.remove(start, node.entries[firstKept]?.keyNode.outer ?? start);
      return;
    }
    const isHeader = node === editor.root && index === 0;
    const [from, to] = linesOf(lines, { start, node: entry.node, keepsComments: editor.keepsComments });
    edits.remove(isHeader ? lines.start(start) : from, to);
  });
}

function appendEntries(
  editor: Editing,
  node: MapNode,
  next: ValueMap,
  names: readonly (string | undefined)[],
): void {
  const { lines, edits, layout } = editor;
  const column = lines.column(node.start);
  const written = new Set([...node.entries.map((entry) => entry.key), ...names]);
  let added = "";
  for (const [key, value] of Object.entries(next)) {
    const merged = key in node.value && sameValue(node.value[key] ?? null, value);
    if (!written.has(key) && !merged) added += entryLines(key, value, column, layout);
  }
  if (added !== "") edits.insert(tailEnd(lines, node, Math.max(1, column)), added);
}
