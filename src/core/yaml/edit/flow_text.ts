import { isList, isMap, type Value, type ValueMap } from "../../value.ts";
import { isEmpty, spaces } from "../write/emit.ts";
import { doubleQuoted, scalarText } from "../write/scalar_text.ts";

/** The style of text inside `{}` and `[]`. */
export interface FlowStyle {
  /** Keys and strings in double quotes. */
  readonly json: boolean;
  /** Between key and value: `: `, or `:` in JSON without spaces. */
  readonly colon: string;
  /** Spaces per level if each entry has its own line; 0 if all is on one line. */
  readonly step: number;
  readonly eol: string;
}

/** A value in flow style, on a line that is indented by `column`. */
export function flowText(value: Value, style: FlowStyle, column: number): string {
  if (isEmpty(value)) return isList(value) ? "[]" : "{}";
  const inner = column + style.step;
  if (isList(value)) return `[${lines(value.map((item) => flowText(item, style, inner)), style, column)}]`;
  if (!isMap(value)) return flowScalar(value, style);
  return `{${lines(Object.keys(value).map((key) => flowEntry(key, value, style, inner)), style, column)}}`;
}

/** `key: value` of a map in flow style. */
export function flowEntry(key: string, map: ValueMap, style: FlowStyle, column: number): string {
  return flowScalar(key, style) + style.colon + flowText(map[key] ?? null, style, column);
}

/** The text between two entries whose lines are indented by `column`. */
export function flowComma(style: FlowStyle, column: number): string {
  if (style.step > 0) return `,${style.eol}${spaces(column)}`;
  return style.colon === ":" ? "," : ", ";
}

/** Entries between brackets: each on its own line if the style says so. */
function lines(entries: readonly string[], style: FlowStyle, column: number): string {
  const inner = entries.join(flowComma(style, column + style.step));
  if (style.step === 0) return inner;
  return `${style.eol}${spaces(column + style.step)}${inner}${style.eol}${spaces(column)}`;
}

function flowScalar(value: Exclude<Value, object> | null, style: FlowStyle): string {
  return style.json && typeof value === "string" ? doubleQuoted(value) : scalarText(value, true);
}
