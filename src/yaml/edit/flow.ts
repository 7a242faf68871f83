import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";
import { type Editing, inOldQuotes } from "./editing.ts";
import { matchItems } from "./match_items.ts";
import type { ListNode, MapNode, YamlNode } from "../node.ts";
import type { Lines } from "../position.ts";
import { lastEntries, newNames, renameKey } from "./map.ts";
import { isEmpty, spaces } from "../write/emit.ts";
import { doubleQuoted, scalarText } from "../write/scalar_text.ts";

type FlowNode = MapNode | ListNode;

/** The extent of an entry, and whether the entry is kept. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly kept: boolean;
}

/** Changes, removes and appends keys of a map in braces. */
export function editFlowMap(editor: Editing, node: MapNode, next: ValueMap): void {
  const names = newNames(node, next);
  const spans = node.entries.map((entry, index) => ({
    start: entry.keyNode.outer,
    end: entry.node.end,
    kept: names[index] !== undefined,
  }));
  const last = lastEntries(node);
  node.entries.forEach((entry, index) => {
    const name = names[index];
    if (name === undefined) editor.forget(entry.node);
    else if (entry.key !== undefined && last.get(entry.key) === index) {
      renameKey(editor, entry, name);
      editor.edit(entry.node, next[name] ?? null, { kind: "flow", owner: node });
    }
  });
  const style = styleOf(editor, node);
  const added = Object.keys(next).filter((key) => !(key in node.value) && !names.includes(key))
    .map((key) => ({ after: spans.length - 1, text: flowEntry(key, next, style) }));
  removeAndInsert(editor, node, spans, added);
}

/** Changes, removes and inserts items of a list in brackets. */
export function editFlowList(editor: Editing, node: ListNode, next: readonly Value[]): void {
  const { kept: match } = matchItems(node.value, next);
  const kept = new Set(match);
  const spans = node.items.map((item, index) => ({ start: item.outer, end: item.end, kept: kept.has(index) }));
  node.items.forEach((item, index) => kept.has(index) || editor.forget(item));
  const style = styleOf(editor, node);
  const added: Added[] = [];
  let after = -1;
  next.forEach((value, position) => {
    const index = match[position];
    const item = index === undefined ? undefined : node.items[index];
    if (index === undefined || item === undefined) {
      added.push({ after, text: flowText(value, style) });
      return;
    }
    editor.edit(item, value, { kind: "flow", owner: node });
    after = index;
  });
  removeAndInsert(editor, node, spans, added);
}

/** Replaces a node inside braces or brackets. */
export function flowReplacement(editor: Editing, node: YamlNode, next: Value, owner: FlowNode): void {
  const { text, edits } = editor;
  const written = inOldQuotes(node, next) ?? flowText(next, styleOf(editor, owner));
  if (node.outer < node.end || owner.kind === "list") edits.replace(node.outer, node.end, written);
  else edits.insert(node.end, (text[node.end - 1] === ":" ? " " : ": ") + written);
}

interface Added {
  /** The index of the previous entry; -1 for the first. */
  readonly after: number;
  readonly text: string;
}

function removeAndInsert(editor: Editing, node: FlowNode, spans: readonly Span[], added: readonly Added[]): void {
  const { edits } = editor;
  const comma = flowComma(styleOf(editor, node));
  const first = spans[0];
  const last = spans.at(-1);
  if (first === undefined || last === undefined) return;
  const keptCount = spans.filter((span) => span.kept).length;
  if (keptCount === 0) {
    edits.replace(first.start, last.end, added.map((part) => part.text).join(comma));
    return;
  }
  removeSpans(editor, spans);
  const keptBefore = lastKept(spans);
  for (const part of added) {
    const place = keptBefore[part.after];
    if (place === undefined) edits.insert(first.start, part.text + comma);
    else edits.insert(place.end, comma + part.text);
  }
}

/** For each entry, the last kept entry up to and including this entry; `undefined` before the first kept entry. */
function lastKept(spans: readonly Span[]): (Span | undefined)[] {
  let last: Span | undefined;
  return spans.map((span) => last = span.kept ? span : last);
}

/** Removes each run of entries with the comma after the run. For the last run, removes the comma before it. */
function removeSpans(editor: Editing, spans: readonly Span[]): void {
  const lastKeptIndex = spans.findLastIndex((span) => span.kept);
  spans.forEach((span, index) => {
    if (span.kept) return;
    const follows = index < lastKeptIndex;
    const before = spans[index - 1];
    if (follows) editor.edits.remove(span.start, spans[index + 1]?.start ?? span.end);
    else editor.edits.remove(before?.end ?? span.start, span.end);
  });
}

/** The style of a collection's text. */
function styleOf(editor: Editing, node: FlowNode): FlowStyle {
  const { text, lines } = editor;
  const inner = firstOffset(node);
  const isSpread = inner !== undefined && lines.start(inner) !== lines.start(node.start);
  const step = isSpread ? Math.max(1, lines.column(inner) - indentOf(lines, node.start)) : 0;
  const column = indentOf(lines, inner ?? node.start);
  const compact = /^[^\n]*?":\S/.test(text.slice(node.start, node.start + 200));
  const json = compact || isJson(editor.root) || isJson(node);
  return { json, colon: compact ? ":" : ": ", step, column, eol: editor.layout.eol };
}

function isJson(node: YamlNode | undefined): boolean {
  if (node === undefined || node.kind === "alias") return false;
  if (node.kind === "scalar") return node.style === "double";
  if (!node.flow) return false;
  return isJson(node.kind === "map" ? node.entries[0]?.keyNode : node.items[0]);
}

function firstOffset(node: FlowNode): number | undefined {
  return node.kind === "map" ? node.entries[0]?.keyNode.outer : node.items[0]?.outer;
}

function indentOf(lines: Lines, offset: number): number {
  const { text } = lines;
  let at = lines.start(offset);
  const start = at;
  while (text[at] === " ") at++;
  return at - start;
}

/** The style of text inside `{}` and `[]`. */
interface FlowStyle {
  /** Keys and strings in double quotes. */
  readonly json: boolean;
  /** Between key and value: `: `, or `:` in JSON without spaces. */
  readonly colon: string;
  /** Spaces per level if each entry has its own line; 0 if all entries are on one line. */
  readonly step: number;
  /** The indentation of the line. */
  readonly column: number;
  readonly eol: string;
}

function flowText(value: Value, style: FlowStyle): string {
  if (isEmpty(value)) return isList(value) ? "[]" : "{}";
  const inner = { ...style, column: style.column + style.step };
  if (isList(value)) return `[${lines(value.map((item) => flowText(item, inner)), style, inner)}]`;
  if (!isMap(value)) return flowScalar(value, style);
  return `{${lines(Object.keys(value).map((key) => flowEntry(key, value, inner)), style, inner)}}`;
}

/** `key: value` of a map in flow style. */
function flowEntry(key: string, map: ValueMap, style: FlowStyle): string {
  return flowScalar(key, style) + style.colon + flowText(map[key] ?? null, style);
}

/** The text between two entries. */
function flowComma({ step, column, colon, eol }: FlowStyle): string {
  if (step > 0) return `,${eol}${spaces(column)}`;
  return colon === ":" ? "," : ", ";
}

/** The text of entries between brackets: on one line or on separate lines, depending on the style. */
function lines(entries: readonly string[], outer: FlowStyle, inner: FlowStyle): string {
  const text = entries.join(flowComma(inner));
  return outer.step === 0 ? text : `${outer.eol}${spaces(inner.column)}${text}${outer.eol}${spaces(outer.column)}`;
}

function flowScalar(value: Exclude<Value, object> | null, style: FlowStyle): string {
  return style.json && typeof value === "string" ? doubleQuoted(value) : scalarText(value, true);
}
