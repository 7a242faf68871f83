import { isShared } from "../../base/values/mod.ts";
import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";
import { naturalOrder } from "./natural_order.ts";
import { MAX_SIMPLE_KEY, needsEscape, scalarText, stringText } from "./scalar_text.ts";

/** The layout of block text. */
export interface Layout {
  /** Spaces per level. */
  readonly step: number;
  /** Indentation of a list below its key. */
  readonly listIndent: number;
  /** Whether to sort keys, as kubectl does. Otherwise they keep the order of the value. */
  readonly sortKeys: boolean;
  /** The line break. */
  readonly eol: string;
  /** Whether to allow `|+`. Blank lines after such a block become part of its value. */
  readonly keepBlocks: boolean;
}

/** A value's text: the part on the line of its key or dash, and the whole lines after that line. */
export interface Block {
  /** `""` if the whole text is on the following lines. */
  readonly head: string;
  /** Each line with its line break. */
  readonly body: string;
}

type Write<T> = (value: Value, column: number, layout: Layout) => T;

/** The text of a value whose key is at `column`. */
export const entryBlock = keptForShared((value, column, layout): Block => {
  if (isEmpty(value)) return { head: isList(value) ? "[]" : "{}", body: "" };
  if (isList(value)) return { head: "", body: listLines(value, column + layout.listIndent, layout) };
  if (isMap(value)) return { head: "", body: mapLines(value, column + layout.step, layout) };
  return scalarBlock(value, column, layout);
});

/** The text of an item of a list with dashes at `column`: `head` follows `- `. */
export function itemBlock(value: Value, column: number, layout: Layout): Block {
  const lines = itemLines(value, column, layout);
  const end = lines.indexOf(layout.eol);
  return { head: lines.slice(column + "- ".length, end), body: lines.slice(end + layout.eol.length) };
}

/** The line `- item` and the other lines of the item. */
export const itemLines = keptForShared((value, column, layout) => {
  const inner = column + "- ".length;
  const dash = `${spaces(column)}- `;
  if (isMap(value) && !isEmpty(value)) return mapLines(value, inner, layout, dash);
  if (isList(value) && !isEmpty(value)) return dash + listLines(value, inner, layout).slice(inner);
  const { head, body } = entryBlock(value, column, layout);
  return `${dash}${head}${layout.eol}${body}`;
});

/** The line `key: value` and the other lines of the value. */
export function entryLines(key: string, value: Value, column: number, layout: Layout): string {
  return spaces(column) + entryText(key, value, column, layout);
}

/** `entryLines` without the spaces before the key. */
function entryText(key: string, value: Value, column: number, layout: Layout): string {
  const text = stringText(key);
  const { head, body } = entryBlock(value, column, layout);
  const name = text.length > MAX_SIMPLE_KEY ? `? ${text}${layout.eol}${spaces(column)}:` : `${text}:`;
  return `${name}${head === "" ? "" : " "}${head}${layout.eol}${body}`;
}

/** The lines of a map, which must not be empty. `first` precedes the first key. */
export function mapLines(map: ValueMap, column: number, layout: Layout, first = spaces(column)): string {
  const keys = Object.keys(map);
  if (layout.sortKeys) keys.sort(naturalOrder);
  let lines = "";
  for (const key of keys) {
    lines += (lines === "" ? first : spaces(column)) + entryText(key, map[key] ?? null, column, layout);
  }
  return lines;
}

/** The lines of a list, which must not be empty. */
export function listLines(list: readonly Value[], column: number, layout: Layout): string {
  let lines = "";
  for (const item of list) lines += itemLines(item, column, layout);
  return lines;
}

/** Whether a value is an empty map or list. */
export function isEmpty(value: Value): boolean {
  return isList(value) ? value.length === 0 : isMap(value) && Object.keys(value).length === 0;
}

const indents: string[] = [];

/** `count` spaces. */
export function spaces(count: number): string {
  return indents[count] ??= " ".repeat(count);
}

function scalarBlock(value: Exclude<Value, object> | null, column: number, layout: Layout): Block {
  const literal = typeof value === "string" ? literalBlock(value, column, layout) : undefined;
  return literal ?? { head: scalarText(value), body: "" };
}

/**
 * A string of several lines as a literal block under a key or dash at `column`; `undefined` if the string has one line
 * or needs escapes. If the first line begins with white space, the header contains an indentation indicator.
 */
export function literalBlock(value: string, column: number, layout: Layout): Block | undefined {
  if (!value.includes("\n") || /^\n*$/.test(value) || needsEscape(value)) return undefined;
  if (!layout.keepBlocks && value.endsWith("\n\n")) return undefined;
  const indicator = /^\s/.test(value) ? String(layout.step) : "";
  const indent = spaces(column + layout.step);
  const content = value.endsWith("\n") ? value.slice(0, -1) : value;
  const body = content.split("\n").map((line) => (line === "" ? "" : indent + line) + layout.eol).join("");
  return { head: `|${indicator}${chomping(value)}`, body };
}

function chomping(value: string): string {
  if (value.endsWith("\n\n")) return "+";
  return value.endsWith("\n") ? "" : "-";
}

/** Maximum number of cached texts per value. Documents have few layouts and columns. */
const MAX_KEPT = 8;

/** Returns `write` with a cache that keeps the texts of shared values, by column and layout. */
function keptForShared<T>(write: Write<T>): Write<T> {
  const kept = new WeakMap<object, Map<string, T>>();
  return (value, column, layout) => {
    if (!isShared(value)) return write(value, column, layout);
    const key = `${column} ${Object.values(layout).join(" ")}`;
    const byKey = kept.get(value) ?? new Map<string, T>();
    let block = byKey.get(key);
    if (block === undefined) {
      if (byKey.size === MAX_KEPT) byKey.clear();
      kept.set(value, byKey.set(key, block = write(value, column, layout)));
    }
    return block;
  };
}
