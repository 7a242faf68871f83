import { isList, isMap, type Value, type ValueMap } from "../../value.ts";
import { literalBlock } from "./literal_block.ts";
import { naturalOrder } from "./natural_order.ts";
import { MAX_SIMPLE_KEY, scalarText, stringText } from "./scalar_text.ts";

/** How block text is laid out. */
export interface Layout {
  /** Spaces per level. */
  readonly step: number;
  /** Whether a list stands deeper than its key. */
  readonly listIndent: number;
  /** Whether keys are sorted as kubectl sorts them; else they keep the order of the value. */
  readonly sortKeys: boolean;
  /** The line break. */
  readonly eol: string;
  /** Whether `|+` may be written: its value takes in whatever blank lines follow it in the text. */
  readonly keepBlocks: boolean;
}

/** A value as text at some place: what follows the key or dash on its line, and the whole lines after it. */
export interface Block {
  /** `""` if everything is on the lines after. */
  readonly head: string;
  /** Each line with its line break. */
  readonly body: string;
}

/** The value of a key whose map stands at column `column`. */
export function entryBlock(value: Value, column: number, layout: Layout): Block {
  if (isEmpty(value)) return { head: isList(value) ? "[]" : "{}", body: "" };
  if (isList(value)) return { head: "", body: listLines(value, column + layout.listIndent, layout) };
  if (isMap(value)) return { head: "", body: mapLines(value, column + layout.step, layout) };
  return scalarBlock(value, column, layout);
}

/** An item of a list whose dashes stand at `column`: `head` follows `- `. */
export function itemBlock(value: Value, column: number, layout: Layout): Block {
  if (isEmpty(value) || !(isList(value) || isMap(value))) return entryBlock(value, column, layout);
  const inner = column + 2;
  const lines = isList(value) ? listLines(value, inner, layout) : mapLines(value, inner, layout);
  const end = lines.indexOf(layout.eol);
  return { head: lines.slice(inner, end), body: lines.slice(end + layout.eol.length) };
}

/** A whole line `key: value` and the lines of its value. */
export function entryLines(key: string, value: Value, column: number, layout: Layout): string {
  const indent = spaces(column);
  const text = stringText(key);
  const block = entryBlock(value, column, layout);
  const name = text.length > MAX_SIMPLE_KEY ? `${indent}? ${text}${layout.eol}${indent}:` : `${indent}${text}:`;
  return `${name}${block.head === "" ? "" : " "}${block.head}${layout.eol}${block.body}`;
}

/** A whole line `- item` and the lines of the item. */
export function itemLines(value: Value, column: number, layout: Layout): string {
  const block = itemBlock(value, column, layout);
  return `${spaces(column)}- ${block.head}${layout.eol}${block.body}`;
}

/** The lines of a map that is not empty. */
export function mapLines(map: ValueMap, column: number, layout: Layout): string {
  const keys = Object.keys(map);
  if (layout.sortKeys) keys.sort(naturalOrder);
  let lines = "";
  for (const key of keys) lines += entryLines(key, map[key] ?? null, column, layout);
  return lines;
}

/** The lines of a list that is not empty. */
export function listLines(list: readonly Value[], column: number, layout: Layout): string {
  let lines = "";
  for (const item of list) lines += itemLines(item, column, layout);
  return lines;
}

/** Whether a value is a map or list without content. */
export function isEmpty(value: Value): boolean {
  return isList(value) ? value.length === 0 : isMap(value) && Object.keys(value).length === 0;
}

const indents: string[] = [];

/** That many spaces. */
export function spaces(count: number): string {
  return indents[count] ??= " ".repeat(count);
}

function scalarBlock(value: Exclude<Value, object> | null, column: number, layout: Layout): Block {
  const literal = typeof value === "string" ? literalBlock(value, column, layout) : undefined;
  return literal ?? { head: scalarText(value), body: "" };
}
