import type { Value } from "../../base/value.ts";
import type { DocumentEvent } from "js-yaml";

/** Prefix of the long form of YAML's standard tags. */
const YAML_TAG = "tag:yaml.org,2002:";
const INT64_MIN = -(2n ** 63n);
/** The largest int64. */
export const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;

const INT = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9][0-9]*)$/;
const SIGN_AFTER_RADIX = /^0b[-+][01]+$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const DOT_FLOAT = /^\.[0-9][0-9_]*(?:[eE][-+]?[0-9][0-9_]*)?$/;
/** Underscores that are not between digits. */
const WRONG_UNDERSCORE = /__|_(?:[eE]|$)/;

/** The keywords of YAML 1.1, as go-yaml v2 reads them. */
const WORDS = new Map<string, Value>([
  ...spellings(true, ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"]),
  ...spellings(false, ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"]),
  ...spellings(null, ["", "~", "null", "Null", "NULL"]),
  ...spellings(NaN, [".nan", ".NaN", ".NAN"]),
  ...spellings(Infinity, [".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"]),
  ...spellings(-Infinity, ["-.inf", "-.Inf", "-.INF"]),
]);

/**
 * The value of a plain scalar as kubectl reads it (go-yaml v2: YAML 1.1 without base 60, dates stay text). Integers
 * beyond 2^53 are `bigint`; `.inf` and `.nan` are numbers, although JSON cannot represent them.
 */
export function resolvePlain(text: string): Value {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (text.startsWith(".")) return dotFloat(text) ?? text;
  return /^[-+0-9]/.test(text) ? resolveInt(text) ?? decimalFloat(text.replaceAll("_", "")) ?? text : text;
}

/** Whether this text, as a plain scalar, is read as a value that is not a string. */
export function isAmbiguous(text: string): boolean {
  return typeof resolvePlain(text) !== "string";
}

/** An integer in any of Go's notations, with underscores, within int64 or uint64; `undefined` for any other text. */
export function resolveInt(text: string): number | bigint | undefined {
  const plain = text.includes("_") ? text.replaceAll("_", "") : text;
  if (SIGN_AFTER_RADIX.test(plain)) return parseGoInt(plain.slice(2, 3), `0b${plain.slice(3)}`);
  if (!INT.test(plain)) return undefined;
  const signed = plain[0] === "-" || plain[0] === "+";
  return parseGoInt(signed ? plain.slice(0, 1) : "", signed ? plain.slice(1) : plain);
}

function parseGoInt(sign: string, digits: string): number | bigint | undefined {
  const octal = OCTAL.test(digits);
  if (!octal && digits.length <= 15) return Number(digits) * (sign === "-" ? -1 : 1) + 0;
  return within64Bits(sign, BigInt(octal ? `0o${digits.slice(1)}` : digits.toLowerCase()));
}

const OCTAL = /^0[0-7]/;

/** Checks that an integer is within 64 bits. Only a number without a sign may exceed int64. */
function within64Bits(sign: string, size: bigint): number | bigint | undefined {
  const value = sign === "-" ? -size : size;
  return value < INT64_MIN || value > (sign === "" ? UINT64_MAX : INT64_MAX) ? undefined : smallest(value);
}

function decimalFloat(plain: string): number | bigint | undefined {
  return FLOAT.test(plain) ? finite(Number(plain)) : undefined;
}

function dotFloat(text: string): number | bigint | undefined {
  return DOT_FLOAT.test(text) && !WRONG_UNDERSCORE.test(text) ? finite(Number(text.replaceAll("_", ""))) : undefined;
}

/** A finite float. A whole number within 64 bits becomes an integer, as when the value passes through JSON. */
function finite(value: number): number | bigint | undefined {
  if (!Number.isFinite(value)) return undefined;
  return wholeNumber(value) ?? value + 0;
}

/** The 64-bit integer that JSON readers get from this number; `undefined` for any other number. */
export function wholeNumber(value: number): number | bigint | undefined {
  if (!Number.isInteger(value)) return undefined;
  if (Number.isSafeInteger(value)) return value + 0;
  if (Math.abs(value) >= 2 ** 64) return undefined;
  // Go and JavaScript write a float's JSON with the same shortest digits.
  const exact = BigInt(String(value));
  return exact < INT64_MIN || exact > UINT64_MAX ? undefined : exact;
}

function smallest(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** The value of a tagged scalar, or why it does not fit the tag. */
type Tagged = { readonly value: Value } | { readonly problem: string };

/**
 * The value of a scalar with an explicit tag (long form, except `!`), as go-yaml v2 decodes it: unknown tags and
 * `!!str` give text, `!!binary` is decoded, other tags must fit the text.
 */
export function resolveTagged(tag: string, text: string): Tagged {
  if (!tag.startsWith(YAML_TAG)) return { value: text };
  const name = tag.slice(YAML_TAG.length);
  if (name === "binary") return decodeBinary(text);
  const fits = FITS.get(name);
  if (fits === undefined) return { value: text };
  const value = resolvePlain(text);
  if (!fits(value, text)) return { problem: `Cannot read "${text}" as !!${name}` };
  return { value: name === "float" ? finite(Number(value)) ?? value : value };
}

const FITS = new Map<string, (value: Value, text: string) => boolean>([
  ["bool", (value) => typeof value === "boolean"],
  ["null", (value) => value === null],
  ["int", (_, text) => resolveInt(text) !== undefined],
  ["float", (value) => typeof value === "number" || typeof value === "bigint"],
  ["timestamp", (value, text) => typeof value === "string" && /^\d{4}-\d{1,2}-\d{1,2}/.test(text)],
]);

/** Decodes `!!binary`. Bytes that are not UTF-8 become U+FFFD, as in JSON that Go writes. */
function decodeBinary(text: string): Tagged {
  try {
    const bytes = Uint8Array.fromBase64(text.replace(/[\r\n]/g, ""));
    return { value: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) };
  } catch {
    // SyntaxError: the text is not base64.
    return { problem: "The !!binary value is not valid base64" };
  }
}

function spellings(value: Value, words: readonly string[]): [string, Value][] {
  return words.map((word) => [word, value]);
}

const DEFAULT_HANDLES: Readonly<Record<string, string>> = { "!": "!", "!!": "tag:yaml.org,2002:" };

/** Expands a tag (`!!int`, `!<tag:…>`, `!e!x`) to its long form, with the handles of `%TAG` lines. */
export function longTag(raw: string, directives: DocumentEvent["directives"]): string {
  if (raw.startsWith("!<")) return raw.slice(2, -1);
  const end = raw.indexOf("!", 1) + 1;
  const handle = raw.slice(0, end === 0 ? 1 : end);
  const declared = directives.find((directive) => directive.kind === "tag" && directive.handle === handle);
  const prefix = declared?.kind === "tag" ? declared.prefix : DEFAULT_HANDLES[handle] ?? handle;
  return prefix + unescape(raw.slice(handle.length));
}

function unescape(suffix: string): string {
  try {
    return decodeURIComponent(suffix);
  } catch {
    // URIError: the suffix is not valid percent-encoding.
    return suffix;
  }
}
