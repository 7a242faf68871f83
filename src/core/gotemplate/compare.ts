import { formatValue, sprint } from "./fmt/print.ts";
import { noFlags } from "./fmt/flags.ts";
import { compareBytes, isUnsigned, kindOf, typeOf } from "./kind.ts";
import { GoInt, type GoValue } from "./value.ts";

/** The kinds that `eq` and `lt` know: signed integers of all sizes are one, unsigned ones another. */
export type BasicKind = "bool" | "int" | "uint" | "float" | "string" | "other";

const basicKinds: Readonly<Record<string, BasicKind>> = {
  boolean: "bool",
  string: "string",
  bigint: "int",
  number: "float",
};

/** The kind of a value as comparisons see it; nil, lists, maps and structs are `other`. */
export function basicKind(value: GoValue | undefined): BasicKind {
  if (value instanceof GoInt) return isUnsigned(kindOf(value)) ? "uint" : "int";
  return basicKinds[typeof value] ?? "other";
}

/** The integer in a value of kind `int` or `uint`, `undefined` for others. */
export function integerOf(value: GoValue | undefined): bigint | undefined {
  if (typeof value === "bigint") return value;
  return value instanceof GoInt ? value.value : undefined;
}

/**
 * `eq a b`: whether two values are equal. Integers of different types may be compared, an integer and a float may not:
 * that throws an Error with Go's text, as comparing lists or maps does.
 */
export function equals(a: GoValue | undefined, b: GoValue | undefined): boolean {
  const left = basicKind(a);
  const right = basicKind(b);
  if (left === "other" && right === "other") return otherEquals(a ?? null, b ?? null);
  const integer = integerOf(a);
  if (integer !== undefined && (right === "int" || right === "uint")) return integer === integerOf(b);
  if (left === right) return a === b;
  if (a === undefined || a === null || b === undefined || b === null) return false;
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

function isNil(value: GoValue): boolean {
  return value === null || (typeof value === "object" && "isNil" in value && value.isNil === true);
}

function shown(value: GoValue): string {
  return formatValue(value, "s", noFlags());
}

function incompatible(a: GoValue, b: GoValue): Error {
  return new Error(`incompatible types for comparison: ${typeOf(a)} and ${typeOf(b)}`);
}

/** `lt a b`: numbers of one kind by size, strings by bytes. Other kinds, or two kinds, throw an Error with Go's text. */
export function lessThan(a: GoValue | undefined, b: GoValue | undefined): boolean {
  const left = basicKind(a);
  const right = basicKind(b);
  if (a === undefined || b === undefined || left === "other" || right === "other") throw new Error(invalidType);
  const integer = integerOf(a);
  const other = integerOf(b);
  if (integer !== undefined && other !== undefined) return integer < other;
  if (left !== right) throw incompatible(a, b);
  if (typeof a === "string" && typeof b === "string") return compareBytes(a, b) < 0;
  if (typeof a === "number" && typeof b === "number") return a < b;
  throw new Error(invalidType);
}

const invalidType = "invalid type for comparison";

/** `le`: less or equal, with the errors of both. */
export function lessOrEqual(a: GoValue | undefined, b: GoValue | undefined): boolean {
  return lessThan(a, b) || equals(a, b);
}
