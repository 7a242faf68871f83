import { compareUtf8 } from "../go_json.ts";
import { formatValue, sprint } from "./fmt/print.ts";
import { noFlags } from "./fmt/flags.ts";
import { kindOf, typeOf } from "./kind.ts";
import { GoInt, GoStruct, type GoValue, isNil } from "../go_value.ts";

/** A value to compare: integers of all types are `bigint`; nil, lists, maps and structs are `undefined`. */
function basic(value: GoValue | undefined): bigint | number | string | boolean | undefined {
  if (value instanceof GoStruct) return basic(value.integer());
  if (value instanceof GoInt) return value.value;
  return typeof value === "object" || typeof value === "function" ? undefined : value;
}

/** The integer in a value; `undefined` for other kinds. */
export function integerOf(value: GoValue | undefined): bigint | undefined {
  const integer = basic(value);
  return typeof integer === "bigint" ? integer : undefined;
}

/**
 * `eq a b`: whether two values are equal. Integers of different types can be compared. Comparing an integer with a
 * float, or lists or maps, throws an Error with Go's text.
 */
export function equals(a: GoValue = null, b: GoValue = null): boolean {
  const [left, right] = [basic(a), basic(b)];
  if (left === undefined && right === undefined) return otherEquals(a, b);
  if (typeof left === typeof right) return left === right;
  // Only nil can be compared to a value of a different kind.
  if (a === null || b === null) return false;
  throw incompatible(a, b);
}

function otherEquals(a: GoValue, b: GoValue): boolean {
  if (a === null || b === null) return isNil(a) === isNil(b);
  const kind = kindOf(a);
  if (kind !== kindOf(b)) {
    throw new Error(`non-comparable types ${shown(a)}: ${typeOf(a)}, ${typeOf(b)}: ${sprint(b)}`);
  }
  if (isNil(a) || isNil(b)) return isNil(a) === isNil(b);
  if (kind === "slice" || kind === "map" || kind === "func") {
    throw new Error(`non-comparable type ${shown(b)}: ${typeOf(b)}`);
  }
  return a === b;
}

function shown(value: GoValue): string {
  return formatValue(value, "s", noFlags());
}

function incompatible(a: GoValue, b: GoValue): Error {
  return new Error(`incompatible types for comparison: ${typeOf(a)} and ${typeOf(b)}`);
}

/**
 * `lt a b`: compares numbers of one kind by size, strings by bytes. Other kinds, and values of different kinds, throw
 * an Error with Go's text.
 */
export function lessThan(a: GoValue = null, b: GoValue = null): boolean {
  const [left, right] = [basic(a), basic(b)];
  if (left === undefined || right === undefined) throw new Error("invalid type for comparison");
  if (typeof left !== typeof right) throw incompatible(a, b);
  if (typeof left === "boolean" || typeof right === "boolean") throw new Error("invalid type for comparison");
  if (typeof left === "string" || typeof right === "string") return compareUtf8(String(left), String(right)) < 0;
  return left < right;
}

/** `le a b`: less or equal, with the errors of `lt` and `eq`. */
export function lessOrEqual(a: GoValue | undefined, b: GoValue | undefined): boolean {
  return lessThan(a, b) || equals(a, b);
}
