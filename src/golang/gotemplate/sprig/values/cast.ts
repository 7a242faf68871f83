/**
 * sprig's conversions to numbers, by the rules of spf13/cast: a value that cannot be converted gives 0. Strings are
 * read with a base prefix, so `0x10` is 16, `010` is 8 and `08` is 0.
 */
import { GoInt, type GoValue } from "../../../go_value.ts";
import { parseFloat64, parseInteger } from "../../strconv.ts";

const MIN = -(1n << 63n);
const MAX = (1n << 63n) - 1n;

/** An int64 as the engine represents it. */
export function int64(value: bigint): GoInt {
  return new GoInt(BigInt.asIntN(64, value), "int64");
}

/** The int64 of a number, bool or string; floats are cut towards zero. */
export function toInt64(value: GoValue | undefined): bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return truncate(value);
  if (typeof value === "string") return parseInt64(value) ?? 0n;
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

/** Truncates to int64. NaN and values outside int64 give the smallest int64, as on amd64. */
function truncate(value: number): bigint {
  return Math.abs(value) < 2 ** 63 ? BigInt(Math.trunc(value)) : MIN;
}

function parseInt64(text: string): bigint | undefined {
  const value = parseInteger(text.replace(/\.0+$/, ""));
  return value === undefined ? undefined : inRange(value);
}

function inRange(value: bigint): bigint | undefined {
  return value < MIN || value > MAX ? undefined : value;
}

/** strconv.ParseInt in base 8 or 10 with errors ignored: a number that is too large becomes the largest int64. */
export function parseIntClamped(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text)) return 0n;
  const value = BigInt(text.replace("+", ""));
  return value > MAX ? MAX : value < MIN ? MIN : value;
}

/** strconv.ParseInt in base 8; `undefined` for an invalid text. */
export function parseOctal(text: string): bigint | undefined {
  const [, sign, digits] = /^([+-]?)([0-7]+)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const size = BigInt("0o" + digits);
  return inRange(sign === "-" ? -size : size);
}
