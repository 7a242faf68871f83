/**
 * Reads the arguments of template functions. The engine has checked their types against the signature. Also defines
 * short names for Go types.
 */
import { isGoMap, isList } from "../kind.ts";
import { GoInt, type GoMap, type GoValue } from "../../go_value.ts";

export const ANY = "interface {}";
export const STRING = "string";
export const INT = "int";
export const BOOL = "bool";
export const FLOAT = "float64";
export const MAP = "map[string]interface {}";
export const LIST = "[]interface {}";
export const TIME = "time.Time";

/** Maximum elements or characters of one function's result, so that one call cannot exhaust memory. */
export const MAX_MADE = 2 * 1024 * 1024;

/** A string argument. */
export function text(value: GoValue | undefined): string {
  if (typeof value === "string") return value;
  throw mismatch(STRING);
}

/** An `int` argument. Beyond 2^53 it loses digits, but such a size or index is out of range anyway. */
export function int(value: GoValue | undefined): number {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof GoInt) return Number(value.value);
  throw mismatch(INT);
}

/** A `float64` argument. */
export function float(value: GoValue | undefined): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  throw mismatch(FLOAT);
}

/** A `bool` argument. */
export function bool(value: GoValue | undefined): boolean {
  if (typeof value === "boolean") return value;
  throw mismatch(BOOL);
}

/** A map argument to read; nil reads as empty. */
export function mapOf(value: GoValue | undefined): GoMap {
  if (value === null) return Object.create(null);
  if (isGoMap(value)) return value;
  throw mismatch(MAP);
}

/** A `[]interface {}` argument; nil reads as empty. */
export function listOf(value: GoValue | undefined): readonly GoValue[] {
  if (value === null) return [];
  if (isList(value)) return value;
  throw mismatch(LIST);
}

/** The result of a lenient function. If `body` throws, ignores the error and returns `otherwise`, as sprig does. */
export function attempt(body: () => GoValue, otherwise: GoValue): GoValue {
  try {
    return body();
  } catch {
    // An invalid date or pattern, or JSON that cannot be read or written.
    return otherwise;
  }
}

/** Throws if the result of a function would have more than `MAX_MADE` elements. */
export function limitMade(count: number): void {
  if (count > MAX_MADE) throw new Error(`the result has more than ${MAX_MADE} elements`);
}

function mismatch(expected: string): Error {
  return new Error(`wrong type for value; expected ${expected}`);
}
