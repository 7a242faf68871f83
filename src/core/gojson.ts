/**
 * JSON as Go's encoding/json reads and writes it: map keys sorted by their bytes, HTML characters escaped, struct
 * fields in declaration order. Source of the rules: the documentation of encoding/json (Marshal, MarshalIndent,
 * Encoder.SetEscapeHTML, Unmarshal into `any`).
 */
import { GoInt, type GoMap, GoStruct, type GoValue } from "./gotemplate/value.ts";
import type { Value } from "./value.ts";

/** How to write: `indent` is one level (`"  "`), absent for one line; `escapeHtml` (default true) escapes `<`, `>` and `&`. */
export interface GoJsonOptions {
  readonly indent?: string;
  readonly escapeHtml?: boolean;
}

/**
 * The JSON object of a struct: its fields in the order they are written. `GoStruct.toJSONValue()` returns one, because
 * a map would be sorted by key.
 */
export class OrderedFields extends GoStruct {
  override readonly goType = "struct";

  constructor(readonly entries: readonly (readonly [string, GoValue])[]) {
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
 * Errors: a plain Error with Go's text for NaN, infinities and functions.
 */
export function goJson(value: Value | GoValue, options: GoJsonOptions = {}): string {
  const writer: Writer = { indent: options.indent, special: options.escapeHtml === false ? SEPARATORS : HTML };
  return write(value, writer, "\n");
}

/** Compares as Go does, by UTF-8 bytes (which is the order of code points); for `sort`. */
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

/** The empty list given, remembered as Go's nil slice: `null` in JSON where an empty slice is `[]`. */
export function asNil<T extends readonly GoValue[]>(list: T): T {
  nilLists.add(list);
  return list;
}

/** Whether a list is one that `asNil` marked. */
export function isNilList(list: readonly GoValue[]): boolean {
  return list.length === 0 && nilLists.has(list);
}

interface Writer {
  readonly indent: string | undefined;
  readonly special: RegExp;
}

// Go escapes the two line separators always, so that JSON is also JavaScript.
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
  return writeFields(sortedEntries(value), writer, margin);
}

function sortedEntries(map: object): [string, GoValue][] {
  return Object.entries(map).sort(([a], [b]) => compareUtf8(a, b));
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

/** JavaScript writes floats as encoding/json does: shortest digits, exponents below 1e-6 and from 1e21. */
function writeFloat(value: number): string {
  if (Object.is(value, -0)) return "-0";
  if (Number.isFinite(value)) return String(value);
  const text = Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  throw new Error(`json: unsupported value: ${text}`);
}

function quote(text: string, special: RegExp): string {
  if (text.isWellFormed()) return escapeSpecial(JSON.stringify(text), special);
  // A lone surrogate stands for a byte that is not UTF-8; Go writes each as an escaped U+FFFD.
  const parts = text.split(/[\ud800-\udfff]/u).map((part) => escapeSpecial(JSON.stringify(part), special).slice(1, -1));
  return `"${parts.join("\\ufffd")}"`;
}

function escapeSpecial(json: string, special: RegExp): string {
  return json.replace(special, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** encoding/json refuses deeper nesting. */
const MAX_DEPTH = 10_000;

/**
 * Reads JSON as Go does into `any`: every number a float64, the last of duplicate keys wins, lone surrogates become
 * U+FFFD, maps have no prototype.
 * Errors: a plain Error with the text of Go's syntax errors.
 */
export function goJsonParse(text: string): GoValue {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new Error(describeSyntaxError(text));
  }
  const tooLarge = numbersIn(text).find((number) => !Number.isFinite(Number(number)));
  if (tooLarge !== undefined) {
    throw new Error(`json: cannot unmarshal number ${tooLarge} into Go value of type float64`);
  }
  return convert(parsed, 1);
}

/** The numbers of a JSON text that could be beyond float64: those with an exponent or very many digits. */
function numbersIn(text: string): string[] {
  if (!/\d[eE]\+?\d{3}|\d{300}/.test(text)) return [];
  return text.replace(/"(?:[^"\\]|\\.)*"/g, '""').match(/-?\d[\d.eE+-]*/g) ?? [];
}

function convert(value: unknown, depth: number): GoValue {
  if (depth > MAX_DEPTH) throw new Error("exceeded max depth");
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "boolean" || typeof value === "number") return value;
  if (Array.isArray(value)) return value.map((item) => convert(item, depth + 1));
  return typeof value === "object" && value !== null ? convertMap(value, depth) : null;
}

function convertMap(value: object, depth: number): GoMap {
  const map: Record<string, GoValue> = Object.create(null);
  for (const [key, item] of Object.entries(value)) map[key.toWellFormed()] = convert(item, depth + 1);
  return map;
}

/** What Go's scanner says about the first character that cannot be, for a text that is not JSON. */
function describeSyntaxError(text: string): string {
  const scan = new Scanner(text);
  try {
    scan.skipValue(1);
    scan.expectEnd();
  } catch (error) {
    if (error instanceof ScanError) return error.message;
    throw error;
  }
  return "invalid JSON";
}

class ScanError extends Error {}

/** Walks over JSON only to find its first error; one method for each place where Go's scanner names a context. */
class Scanner {
  #at = 0;

  constructor(readonly text: string) {}

  skipValue(depth: number): void {
    if (depth > MAX_DEPTH) throw new ScanError("exceeded max depth");
    const c = this.#next();
    if (c === "{") return this.#skipMap(depth);
    if (c === "[") return this.#skipList(depth);
    if (c === '"') return this.#skipString();
    const word = WORDS[c];
    if (word !== undefined) return this.#skipWord(word);
    this.#skipNumber(c);
  }

  expectEnd(): void {
    this.#skipSpace();
    if (this.#at < this.text.length) this.#fail(this.text.charAt(this.#at), "after top-level value");
  }

  #skipMap(depth: number): void {
    let c = this.#next();
    if (c === "}") return;
    for (;;) {
      if (c !== '"') this.#fail(c, "looking for beginning of object key string");
      this.#skipString();
      c = this.#next();
      if (c !== ":") this.#fail(c, "after object key");
      this.skipValue(depth + 1);
      c = this.#next();
      if (c === "}") return;
      if (c !== ",") this.#fail(c, "after object key:value pair");
      c = this.#next();
    }
  }

  #skipList(depth: number): void {
    this.#skipSpace();
    if (this.text[this.#at] === "]") {
      this.#at++;
      return;
    }
    for (;;) {
      this.skipValue(depth + 1);
      const c = this.#next();
      if (c === "]") return;
      if (c !== ",") this.#fail(c, "after array element");
    }
  }

  #skipString(): void {
    for (;;) {
      const c = this.#inside();
      if (c === '"') return;
      if (c < " ") this.#fail(c, "in string literal");
      if (c === "\\") this.#skipEscape();
    }
  }

  #skipEscape(): void {
    const c = this.#raw();
    if (c !== "u") {
      if (!'bfnrt\\/"'.includes(c)) this.#fail(c, "in string escape code");
      return;
    }
    for (let i = 0; i < 4; i++) {
      const digit = this.#raw();
      if (!/[0-9a-fA-F]/.test(digit)) this.#fail(digit, "in \\u hexadecimal character escape");
    }
  }

  #skipWord(word: string): void {
    for (const expected of word.slice(1)) {
      const c = this.#raw();
      if (c !== expected) this.#fail(c, `in literal ${word} (expecting '${expected}')`);
    }
  }

  #skipNumber(first: string): void {
    let c = first;
    if (c === "-") {
      c = this.#raw();
      if (!isDigit(c)) this.#fail(c, "in numeric literal");
    }
    if (!isDigit(c)) this.#fail(c, "looking for beginning of value");
    if (c !== "0") this.#skipDigits();
    if (this.text[this.#at] === ".") this.#skipPart("after decimal point in numeric literal");
    if (/^[eE]/.test(this.text.slice(this.#at, this.#at + 1))) {
      if (/^[+-]/.test(this.text.slice(this.#at + 1, this.#at + 2))) this.#at++;
      this.#skipPart("in exponent of numeric literal");
    }
  }

  #skipPart(context: string): void {
    this.#at++;
    const c = this.#raw();
    if (!isDigit(c)) this.#fail(c, context);
    this.#skipDigits();
  }

  #skipDigits(): void {
    while (isDigit(this.text.charAt(this.#at))) this.#at++;
  }

  #skipSpace(): void {
    while (/^[ \t\r\n]/.test(this.text.charAt(this.#at))) this.#at++;
  }

  #next(): string {
    this.#skipSpace();
    return this.#inside();
  }

  /** A character of a string, or where a value may begin. */
  #inside(): string {
    if (this.#at >= this.text.length) throw new ScanError("unexpected end of JSON input");
    return this.#raw();
  }

  /** A character of a word, number or escape; the end reads as a space there, as in Go. */
  #raw(): string {
    return this.text.charAt(this.#at++) || " ";
  }

  #fail(c: string, context: string): never {
    throw new ScanError(`invalid character ${quoteCharacter(c)} ${context}`);
  }
}

const WORDS: Readonly<Record<string, string>> = { t: "true", f: "false", n: "null" };

function isDigit(c: string): boolean {
  return c >= "0" && c <= "9";
}

function quoteCharacter(c: string): string {
  if (c === "'") return `'\\''`;
  if (c === '"') return `'"'`;
  return `'${JSON.stringify(c).slice(1, -1).replace(/^\\u00/, "\\x")}'`;
}
