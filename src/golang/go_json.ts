/**
 * JSON as Go's encoding/json reads and writes it: map keys sorted by their bytes, HTML characters escaped, struct
 * fields in declaration order. Source of the rules: the documentation of encoding/json (Marshal, MarshalIndent,
 * Encoder.SetEscapeHTML, Unmarshal into `any`).
 */
import { GoInt, type GoMap, GoStruct, type GoValue } from "./go_value.ts";
import { messageOf } from "../base/errors.ts";
import type { Value } from "../base/value.ts";

/** `indent` is one level (`"  "`); without it the JSON is one line. `escapeHtml` (default true) escapes `<`, `>` and `&`. */
export interface GoJsonOptions {
  readonly indent?: string;
  readonly escapeHtml?: boolean;
}

/**
 * The JSON object of a struct, with fields in order. `GoStruct.toJSONValue()` returns this type, because the keys of a
 * map would be sorted.
 */
export class OrderedFields extends GoStruct {
  constructor(readonly entries: readonly (readonly [string, GoValue])[], override readonly goType = "struct") {
    super();
  }

  override get(name: string): GoValue | undefined {
    return this.entries.find(([key]) => key === name)?.[1];
  }

  override fieldNames(): readonly string[] {
    return this.entries.map(([key]) => key);
  }

  override toJSONValue(): GoValue {
    return this;
  }
}

/**
 * The JSON text of a value, byte for byte as Go writes it.
 * Throws an Error with Go's text for NaN, infinities and functions.
 */
export function goJson(value: Value | GoValue, options: GoJsonOptions = {}): string {
  const writer: Writer = { indent: options.indent, special: options.escapeHtml === false ? SEPARATORS : HTML };
  return write(value, writer, "\n");
}

/** Compares strings as Go does, by UTF-8 bytes (the order of code points). */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return codePointRank(x) - codePointRank(y);
  }
  return a.length - b.length;
}

/** UTF-16 sorts surrogates (code points from U+10000) before U+E000-U+FFFF; UTF-8 sorts them after. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

const nilLists = new WeakSet<object>();

/** Marks an empty list as Go's nil slice: `null` in JSON, where an empty slice is `[]`. */
export function asNil<T extends readonly GoValue[]>(list: T): T {
  nilLists.add(list);
  return list;
}

/** Whether `asNil` marked the list. */
export function isNilList(list: readonly GoValue[]): boolean {
  return list.length === 0 && nilLists.has(list);
}

interface Writer {
  readonly indent: string | undefined;
  readonly special: RegExp;
}

// Go always escapes the two line separators, so that JSON is valid JavaScript.
const HTML = /[<>&\u2028\u2029]/g;
const SEPARATORS = /[\u2028\u2029]/g;

type Scalar = string | number | bigint | boolean | null | undefined;

function write(value: Value | GoValue, writer: Writer, margin: string): string {
  if (typeof value === "object" && value !== null) return writeObject(value, writer, margin);
  if (typeof value === "function") throw new Error("json: unsupported type: func()");
  return writeScalar(value, writer);
}

function writeScalar(value: Scalar, writer: Writer): string {
  if (typeof value === "string") return quote(value, writer.special);
  if (typeof value === "number") return writeFloat(value);
  return value === undefined ? "null" : String(value);
}

function writeObject(value: object, writer: Writer, margin: string): string {
  if (Array.isArray(value)) return writeList(value, writer, margin);
  if (value instanceof GoInt) return value.value.toString();
  if (value instanceof OrderedFields) return writeFields(value.entries, writer, margin);
  if (value instanceof GoStruct) return value.isNil ? "null" : write(value.toJSONValue(), writer, margin);
  return writeFields(Object.entries(value).sort(([a], [b]) => compareUtf8(a, b)), writer, margin);
}

function writeList(list: readonly GoValue[], writer: Writer, margin: string): string {
  if (isNilList(list)) return "null";
  const inner = margin + (writer.indent ?? "");
  return wrap("[", list.map((item) => write(item, writer, inner)), "]", { writer, margin });
}

function writeFields(entries: readonly (readonly [string, GoValue])[], writer: Writer, margin: string): string {
  const inner = margin + (writer.indent ?? "");
  const colon = writer.indent === undefined ? ":" : ": ";
  const fields = entries.map(([key, item]) => quote(key, writer.special) + colon + write(item, writer, inner));
  return wrap("{", fields, "}", { writer, margin });
}

function wrap(open: string, items: string[], close: string, at: { writer: Writer; margin: string }): string {
  const { writer: { indent }, margin } = at;
  if (indent === undefined || items.length === 0) return open + items.join(",") + close;
  return open + margin + indent + items.join("," + margin + indent) + margin + close;
}

/** JavaScript writes floats like encoding/json: the shortest digits, with an exponent below 1e-6 and from 1e21. */
function writeFloat(value: number): string {
  if (Object.is(value, -0)) return "-0";
  if (Number.isFinite(value)) return String(value);
  const text = Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  throw new Error(`json: unsupported value: ${text}`);
}

function quote(text: string, special: RegExp): string {
  if (text.isWellFormed()) return escapeSpecial(JSON.stringify(text), special);
  // A lone surrogate represents an invalid byte. Go writes each invalid byte as an escaped U+FFFD.
  const parts = text.split(/[\ud800-\udfff]/u).map((part) => escapeSpecial(JSON.stringify(part), special).slice(1, -1));
  return `"${parts.join("\\ufffd")}"`;
}

function escapeSpecial(json: string, special: RegExp): string {
  return json.replace(special, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

/**
 * Parses JSON as Go does into `any`: all numbers are float64, the last of duplicate keys wins, lone surrogates become
 * U+FFFD, maps have no prototype. Throws an Error with the reason and the position if the text is not JSON.
 */
export function goJsonParse(text: string): GoValue {
  try {
    return convert(JSON.parse(text));
  } catch (error) {
    throw new Error(`invalid JSON: ${messageOf(error)}`);
  }
}

function convert(value: unknown): GoValue {
  if (value === Infinity || value === -Infinity) throw new Error("a number is beyond float64");
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "boolean" || typeof value === "number") return value;
  if (Array.isArray(value)) return value.map(convert);
  return typeof value === "object" && value !== null ? convertMap(value) : null;
}

function convertMap(value: object): GoMap {
  const map: Record<string, GoValue> = Object.create(null);
  for (const [key, item] of Object.entries(value)) map[key.toWellFormed()] = convert(item);
  return map;
}
