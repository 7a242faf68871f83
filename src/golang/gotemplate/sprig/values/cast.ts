/**
 * Conversions to numbers as sprig makes them (rules of spf13/cast): what cannot be converted is 0. Strings are read
 * with a base prefix, so `0x10` is 16, `010` is 8 and `08` is 0.
 */
import { GoInt, type GoValue } from "../../../go_value.ts";

const MIN = -(1n << 63n);
const MAX = (1n << 63n) - 1n;

/** An int64 as the engine holds it. */
export function int64(value: bigint): GoInt {
  return new GoInt(BigInt.asIntN(64, value), "int64");
}

/** The int64 of a number, bool or string; floats are cut towards zero. */
export function toInt64(value: GoValue | undefined): bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return truncate(value);
  if (typeof value === "string") return parsePrefixed(value.replace(/\.0+$/, "")) ?? 0n;
  if (value instanceof GoInt) return BigInt.asIntN(64, value.value);
  return value === true ? 1n : 0n;
}

/** The float64 of a number, bool or string. */
export function toFloat64(value: GoValue | undefined): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "string") return parseFloat64(value) ?? 0;
  if (value instanceof GoInt) return Number(value.value);
  return value === true ? 1 : 0;
}

/** For NaN and values outside int64 the usual processors give the smallest number. */
function truncate(value: number): bigint {
  return Math.abs(value) < 2 ** 63 ? BigInt(Math.trunc(value)) : MIN;
}

/** Digits of a base between optional single underscores; `_` may follow the prefix. */
const PREFIXED = /^([+-]?)(?:0[xX]((?:_?[\da-fA-F])+)|0[bB]((?:_?[01])+)|0[oO]?((?:_?[0-7])+)|([1-9](?:_?\d)*|0))$/;

/** Characters of a number: patterns that repeat a group exhaust the stack of V8 at some 16 million. */
const MOST = 1_000_000;

function parsePrefixed(text: string): bigint | undefined {
  if (text.length > MOST) return undefined;
  const [match, sign, hex, binary, octal, decimal] = PREFIXED.exec(text) ?? [];
  if (match === undefined) return undefined;
  const digits = hex !== undefined
    ? "0x" + hex
    : binary !== undefined
    ? "0b" + binary
    : octal !== undefined
    ? "0o" + octal
    : decimal ?? "0";
  const size = BigInt(digits.replaceAll("_", ""));
  return inRange(sign === "-" ? -size : size);
}

function inRange(value: bigint): bigint | undefined {
  return value < MIN || value > MAX ? undefined : value;
}

/** strconv.ParseInt in base 8 or 10, without its error: a number that is too large becomes the largest one. */
export function parseIntClamped(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text)) return 0n;
  const value = BigInt(text.replace("+", ""));
  return value > MAX ? MAX : value < MIN ? MIN : value;
}

/** strconv.ParseInt in base 8, `undefined` where that fails. */
export function parseOctal(text: string): bigint | undefined {
  const [, sign, digits] = /^([+-]?)([0-7]+)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const size = BigInt("0o" + digits);
  return inRange(sign === "-" ? -size : size);
}

const DIGITS = "\\d(?:_?\\d)*";
const DECIMAL = new RegExp(`^[+-]?(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:e[+-]?${DIGITS})?$`, "i");
const SPECIAL = /^([+-]?)(inf|infinity|nan)$/i;

/** strconv.ParseFloat, `undefined` where that fails (also for numbers beyond float64). */
export function parseFloat64(text: string): number | undefined {
  if (text.length > MOST) return undefined;
  if (DECIMAL.test(text)) return finite(Number(text.replaceAll("_", "")));
  const [, sign, word] = SPECIAL.exec(text) ?? [];
  if (word === undefined) return parseHexFloat(text);
  if (word.toLowerCase() === "nan") return sign === "" ? NaN : undefined;
  return sign === "-" ? -Infinity : Infinity;
}

const HEX = /^([+-]?)0x((?:_?[\da-f])*)(?:\.((?:[\da-f]_?)*))?p([+-]?\d+)$/i;

function parseHexFloat(text: string): number | undefined {
  const [match, sign, whole = "", fraction = "", exponent] = HEX.exec(text) ?? [];
  const digits = (whole + fraction).replaceAll("_", "");
  if (match === undefined || digits === "") return undefined;
  const scale = Number(exponent) - 4 * fraction.replaceAll("_", "").length;
  return finite(Number(BigInt("0x" + digits)) * 2 ** scale * (sign === "-" ? -1 : 1));
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}
