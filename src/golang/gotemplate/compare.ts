import { compareUtf8 } from "../go_json.ts";
import { formatValue, sprint } from "./fmt/print.ts";
import { noFlags } from "./fmt/flags.ts";
import { isUnsigned, kindOf, typeOf } from "./kind.ts";
import { GoInt, GoStruct, type GoValue } from "../go_value.ts";

/** The kinds that `eq` and `lt` distinguish: `int` is any signed integer, `uint` is any unsigned integer. */
type BasicKind = "bool" | "int" | "uint" | "float" | "string" | "other";

const basicKinds: Readonly<Record<string, BasicKind>> = {
  boolean: "bool",
  string: "string",
  bigint: "int",
  number: "float",
};

/** The kind of a value in a comparison; nil, lists, maps and structs are `other`. */
function basicKind(value: GoValue | undefined): BasicKind {
  if (value instanceof GoInt) return isUnsigned(kindOf(value)) ? "uint" : "int";
  if (value instanceof GoStruct) return basicKind(value.integer());
  return basicKinds[typeof value] ?? "other";
}

/** The integer in a value of kind `int` or `uint`; `undefined` for other kinds. */
export function integerOf(value: GoValue | undefined): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (value instanceof GoStruct) return integerOf(value.integer());
  return value instanceof GoInt ? value.value : undefined;
}

/**
 * `eq a b`: whether two values are equal. Integers of different types can be compared. Comparing an integer with a
 * float, or lists or maps, throws an Error with Go's text.
 */
export function equals(a: GoValue | undefined, b: GoValue | undefined): boolean {
  const left = basicKind(a);
  const right = basicKind(b);
  if (left === "other" && right === "other") return otherEquals(a ?? null, b ?? null);
  const integers = integerPair(a, b);
  if (integers !== undefined) return integers[0] === integers[1];
  if (left === right) return a === b;
  // Only nil can be compared to a value of a different kind.
  if (a !== null && a !== undefined && b !== null && b !== undefined) throw incompatible(a, b);
  return false;
}

/** Both values as `bigint`, if both are integers of any type. */
function integerPair(a: GoValue | undefined, b: GoValue | undefined): readonly [bigint, bigint] | undefined {
  const left = integerOf(a);
  const right = integerOf(b);
  return left === undefined || right === undefined ? undefined : [left, right];
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

function isNil(value: GoValue): boolean {
  return value === null || (typeof value === "object" && "isNil" in value && value.isNil === true);
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
export function lessThan(a: GoValue | undefined, b: GoValue | undefined): boolean {
  const left = basicKind(a);
  const right = basicKind(b);
  if (left === "other" || right === "other") throw new Error(invalidType);
  const integers = integerPair(a, b);
  if (integers !== undefined) return integers[0] < integers[1];
  if (left !== right) throw incompatible(a ?? null, b ?? null);
  if (typeof a === "string" && typeof b === "string") return compareUtf8(a, b) < 0;
  if (typeof a === "number" && typeof b === "number") return a < b;
  throw new Error(invalidType);
}

const invalidType = "invalid type for comparison";

/** `le a b`: less or equal, with the errors of `lt` and `eq`. */
export function lessOrEqual(a: GoValue | undefined, b: GoValue | undefined): boolean {
  return lessThan(a, b) || equals(a, b);
}
