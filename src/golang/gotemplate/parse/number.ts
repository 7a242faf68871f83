import { quote } from "../fmt/quote.ts";
import { unquoteCharacter } from "./unquote.ts";

/** A number constant: what it may be used as, as its text allows. */
export interface Constant {
  /** Its value as an int64, if it is integral (`1.0` and `1e3` are). */
  readonly int: bigint | undefined;
  /** Its value as a uint64, if it is integral and not negative. */
  readonly uint: bigint | undefined;
  readonly float: number;
  /** Without a required type it is a float64: its text has a point or exponent. */
  readonly isFloat: boolean;
}

/** Reads a number or character; throws an Error with Go's text if it is none. */
export function constantOf(text: string): Constant {
  return text.startsWith("'") ? parseCharacter(text) : parseNumber(text);
}

/** Most numbers: V8 compiles the expressions below when they are first used, in a third of a millisecond. */
const SIMPLE = /^(?:0|[1-9]\d{0,14})$/;
const integer = /^[+-]?(?:0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO]?(?:_?[0-7])+|0|[1-9](?:_?[0-9])*)$/;
const decimal =
  /^[+-]?(?:[0-9](?:_?[0-9])*(?:\.(?:[0-9](?:_?[0-9])*)?)?|\.[0-9](?:_?[0-9])*)(?:[eE][+-]?[0-9](?:_?[0-9])*)?$/;
const hexadecimal = /^([+-]?)0[xX]((?:_?[0-9a-fA-F])*)(?:\.((?:[0-9a-fA-F](?:_?[0-9a-fA-F])*)?))?[pP]([+-]?[0-9]+)$/;

/** Characters of a number: patterns that repeat a group exhaust the stack of V8 at some 16 million. */
const MOST = 1_000_000;

/** Reads a number token; throws an Error with Go's text if it is no number, or is longer than a million characters. */
export function parseNumber(text: string): Constant {
  if (text.length > MOST) throw new Error(`illegal number syntax: ${text.length} characters`);
  if (SIMPLE.test(text)) return { int: BigInt(text), uint: BigInt(text), float: Number(text), isFloat: false };
  const whole = parseInteger(text);
  if (whole !== undefined && fits(whole)) return { ...ints(whole), float: Number(whole), isFloat: looksFloat(text) };
  const float = parseFloat64(text);
  if (float === undefined) throw new Error(`illegal number syntax: ${quote(text)}`);
  if (!/[.eEpP]/.test(text)) throw new Error(`integer overflow: ${quote(text)}`);
  const integral = Number.isInteger(float) ? ints(BigInt(float)) : { int: undefined, uint: undefined };
  return { ...integral, float, isFloat: looksFloat(text) };
}

function fits(value: bigint): boolean {
  return value >= -(1n << 63n) && value < 1n << 64n;
}

function ints(value: bigint): Pick<Constant, "int" | "uint"> {
  return {
    int: BigInt.asIntN(64, value) === value ? value : undefined,
    uint: BigInt.asUintN(64, value) === value ? value : undefined,
  };
}

function looksFloat(text: string): boolean {
  const hexInt = /^0[xX]/.test(text) && !/[pP]/.test(text);
  return !hexInt && /[.eEpP]/.test(text);
}

function parseInteger(text: string): bigint | undefined {
  if (!integer.test(text)) return undefined;
  const digits = text.replaceAll("_", "").replace(/^[+-]/, "");
  const size = BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits);
  return text.startsWith("-") ? -size : size;
}

function parseFloat64(text: string): number | undefined {
  const value = decimal.test(text) ? Number(text.replaceAll("_", "")) : hexFloat(text);
  return value === undefined || !Number.isFinite(value) ? undefined : value;
}

function hexFloat(text: string): number | undefined {
  const match = hexadecimal.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = "", exponent = "0"] = match.map((part: string | undefined) =>
    part?.replaceAll("_", "") ?? ""
  );
  if (whole + fraction === "") return undefined;
  const size = Number(BigInt(`0x${whole}${fraction}`)) * 2 ** (Number(exponent) - 4 * fraction.length);
  return sign === "-" ? -size : size;
}

/** Reads a character constant such as `'a'` or `'\n'`; throws an Error with Go's text if it is none. */
export function parseCharacter(text: string): Constant {
  const one = unquoteCharacter(text.slice(1), "'");
  if (one === undefined) throw new Error("invalid syntax");
  if (text.slice(1 + one.length) !== "'") throw new Error(`malformed character constant: ${text}`);
  return { ...ints(BigInt(one.code)), float: one.code, isFloat: false };
}
