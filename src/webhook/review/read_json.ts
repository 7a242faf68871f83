/** Parses JSON from the API server with exact integers. Limits its size, so that an object cannot block other reviews. */
import { newMap, type Value, type ValueMap } from "../../base/value.ts";
import { ReviewError } from "./request.ts";

/** Maximum nesting depth. Kubernetes objects have about 20 levels. */
const MAX_DEPTH = 200;
/** Maximum number of values. A pod has a few hundred, and etcd limits objects to 1.5 MB. */
const MAX_VALUES = 100_000;
/** Matches digits that a float may not represent exactly. Only then are numbers parsed from text, which is slower. */
const MANY_DIGITS = /\d{16}/;

/**
 * Parses the bytes of a review. Mappings have no prototype; integers beyond 2^53 become bigint.
 * Throws a `ReviewError` for invalid or too large JSON.
 */
export function readJson(bytes: Uint8Array): Value {
  const text = decodeText(bytes);
  return converted(parse(text, MANY_DIGITS.test(text) ? exactNumber : undefined));
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function decodeText(bytes: Uint8Array): string {
  checkSize(bytes);
  try {
    return decoder.decode(bytes);
  } catch {
    // A TypeError: the bytes are not UTF-8.
    throw new ReviewError("invalid-review", "The review is not valid UTF-8");
  }
}

/** The change of the nesting depth at a byte outside strings. */
const NESTING: Readonly<Record<number, number>> = { 0x5b: 1, 0x7b: 1, 0x5d: -1, 0x7d: -1 };
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** Largest whitespace byte. Bytes up to this one are skipped. */
const BLANK = 0x20;

/**
 * Checks nesting depth and number of values before parsing, because `JSON.parse` needs 50 bytes of memory for each `[`. Counts
 * the items of lists and mappings. Does not reject invalid JSON.
 */
function checkSize(bytes: Uint8Array): void {
  let [depth, values, before] = [0, 0, 0];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte <= BLANK) continue;
    const nesting = NESTING[byte] ?? 0;
    depth += nesting;
    if (byte === COMMA || (before > 0 && nesting >= 0)) values++;
    before = nesting;
    checkLimits(depth, values);
    if (byte === QUOTE) at = endOfString(bytes, at);
  }
}

function checkLimits(depth: number, values: number): void {
  if (depth > MAX_DEPTH) throw tooLarge(`is nested more than ${MAX_DEPTH} levels deep`);
  if (values > MAX_VALUES) throw tooLarge(`has more than ${MAX_VALUES} values`);
}

/** Returns the position of the closing quote of the string that starts at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at;
  }
  return bytes.length;
}

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

function parse(text: string, reviver?: Reviver): unknown {
  try {
    return JSON.parse(text, reviver);
  } catch {
    // Drop the parser's message: it quotes the text, which may contain secrets.
    throw new ReviewError("invalid-review", "The review is not valid JSON");
  }
}

/** Reviver that returns a bigint for an integer that a float would round. */
function exactNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== "number" || Number.isSafeInteger(value) || source === undefined) return value;
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}

function converted(value: unknown): Value {
  if (typeof value !== "object" || value === null) return scalar(value);
  if (Array.isArray(value)) return value.map(converted);
  const map: ValueMap = newMap();
  for (const [key, item] of Object.entries(value)) map[key] = converted(item);
  return map;
}

function tooLarge(why: string): ReviewError {
  return new ReviewError("too-large", `The review is too large: it ${why}`);
}

/** Converts a scalar. Rejects a number beyond the range of a float, because it cannot be written back. */
function scalar(value: unknown): Value {
  if (typeof value === "string" || typeof value === "boolean" || typeof value === "bigint") return value;
  if (typeof value !== "number") return null;
  if (Number.isFinite(value)) return value;
  throw new ReviewError("invalid-review", "The review contains a number that is out of range");
}
