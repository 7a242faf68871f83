import type { Value } from "../../base/value.ts";
import { floatText, scalarText } from "../../yaml/mod.ts";
import { canonicalQuantity } from "../text/quantity.ts";
import type { FieldType } from "../schema/schema.ts";
import { canonicalTime } from "../text/time.ts";

type Reader = (value: Value) => Value | undefined;

const INT32 = { min: -(2n ** 31n), max: 2n ** 31n - 1n };
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

const READERS: Readonly<Record<string, Reader>> = {
  string: readString,
  bool: (value) => typeof value === "boolean" ? value : undefined,
  int32: (value) => readInteger(value, INT32),
  int64: (value) => readInteger(value, INT64),
  quantity: readQuantity,
  intOrString: (value) => typeof value === "string" ? value : readInteger(value, INT32),
  time: (value) => typeof value === "string" ? canonicalTime(value) : undefined,
  json: (value) => value,
};

/** Names in messages for the kinds whose names in the code would be unclear to users. */
const EXPECTED: Readonly<Record<string, string>> = {
  quantity: "a quantity",
  intOrString: "int32 or string",
  time: "an RFC 3339 time",
  struct: "a mapping",
  map: "a mapping",
  list: "a list",
};

/**
 * Converts a scalar (not null) to the form that its Go type stores; `undefined` for the wrong type. In a string field,
 * numbers and booleans become text, as in sigs.k8s.io/yaml. Whole floats count as integers.
 */
export function readScalar(kind: FieldType["kind"], value: Value): Value | undefined {
  return READERS[kind]?.(value);
}

/** Describes the expected value of a field for messages, such as `int32` or `a list`. */
export function expectedText(type: FieldType): string {
  return EXPECTED[type.kind] ?? type.kind;
}

/** Describes a value for messages, such as `string "three"`, `number 1.5` or `a list`. */
export function gotText(value: Value): string {
  if (value === null) return "null";
  if (typeof value === "object") return Array.isArray(value) ? "a list" : "a mapping";
  const text = typeof value === "string" ? value : String(value);
  return `${typeof value === "bigint" ? "number" : typeof value} ${typeof value === "string" ? `"${text}"` : text}`;
}

function readString(value: Value): Value | undefined {
  switch (typeof value) {
    case "string":
      return value;
    case "boolean":
      return value ? "true" : "false";
    case "number":
      return numberString(value);
    case "bigint":
      return value.toString();
    default:
      return undefined;
  }
}

/** Formats a number as sigs.k8s.io/yaml does: a float with 32-bit precision, and a whole float as an integer. */
function numberString(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 64) return scalarText(value);
  const single = Math.fround(value);
  return Number.isFinite(single) ? floatText(single) : infiniteText(single);
}

/** Formats infinity and NaN as Go's strconv does. */
function infiniteText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "+Inf" : "-Inf";
}

function readInteger(value: Value, range: { min: bigint; max: bigint }): Value | undefined {
  if (typeof value !== "number" && typeof value !== "bigint") return undefined;
  if (value < range.min || value > range.max) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value + 0;
  return Number.isInteger(Number(value)) ? exactInteger(BigInt(value)) : undefined;
}

function exactInteger(whole: bigint): Value {
  const number = Number(whole);
  return Number.isSafeInteger(number) ? number : whole;
}

function readQuantity(value: Value): Value | undefined {
  if (typeof value === "string") return canonicalQuantity(value.trim());
  return typeof value === "number" || typeof value === "bigint" ? canonicalQuantity(String(value)) : undefined;
}
