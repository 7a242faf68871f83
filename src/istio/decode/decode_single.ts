import { readDuration } from "../../golang/duration.ts";
import { isList, isMap, newMap, type Value } from "../../base/value.ts";
import { durationText } from "./duration_text.ts";
import { enumType, type Kind, type Scalar } from "../schema/schema.ts";

/** The reason why a value is invalid: the message names the wanted and the actual value. */
export class Wrong {
  readonly message: string;

  constructor(wanted: string, value: Value, reason = `not ${nounOf(value)}`) {
    this.message = `must be ${wanted}, ${reason}`;
  }
}

/** Describes a value for messages: `a list`, `the text "x"`. */
function nounOf(value: Value): string {
  if (value === null) return "null";
  if (isList(value)) return "a list";
  if (isMap(value)) return "a mapping";
  if (typeof value === "string") return `the text "${value}"`;
  return typeof value === "boolean" ? `the boolean ${value}` : `the number ${value}`;
}

/** The value of an unset field. */
export function zeroOf(kind: Kind): Value {
  if (kind.is === "message" || kind.is === "struct") return newMap();
  if (kind.is === "duration") return "0s";
  if (kind.is === "enum") return enumType(kind.name).names.get(0) ?? 0;
  return zeroScalar(kind.type);
}

/** The zero value of a scalar type. For a 64-bit integer it is text, as in JSON. */
export function zeroScalar(type: Scalar): Value {
  if (type === "string") return "";
  if (type === "bool") return false;
  return type === "int64" ? "0" : 0;
}

/** Converts a scalar to its JSON form, or returns why the value is invalid. */
export function decodeScalar(value: Value, type: Scalar): Value | Wrong {
  if (type === "string") return typeof value === "string" ? value : new Wrong("a string", value);
  if (type === "bool") return typeof value === "boolean" ? value : new Wrong("true or false", value);
  return type === "double" ? decodeDouble(value) : decodeInteger(value, type);
}

const RANGES: Readonly<Record<"int32" | "uint32" | "int64", readonly [bigint, bigint]>> = {
  int32: [-(1n << 31n), (1n << 31n) - 1n],
  uint32: [0n, (1n << 32n) - 1n],
  int64: [-(1n << 63n), (1n << 63n) - 1n],
};

function decodeInteger(value: Value, type: "int32" | "uint32" | "int64"): Value | Wrong {
  const [least, most] = RANGES[type];
  const wanted = `a whole number from ${least} to ${most}`;
  const number = wholeNumber(value);
  if (number === undefined || number < least || number > most) return new Wrong(wanted, value);
  return type === "int64" ? String(number) : Number(number);
}

function wholeNumber(value: Value): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== "string") return undefined;
  return /^[ \t\r\n]*-?(0|[1-9]\d*)[ \t\r\n]*$/.test(value) ? BigInt(value.trim()) : undefined;
}

/** Decodes a double. NaN and the infinities are text, as in proto3 JSON. */
function decodeDouble(value: Value): Value | Wrong {
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "number") return value;
  if (value === "NaN" || value === "Infinity" || value === "-Infinity") return value;
  const wanted = "a number";
  if (typeof value !== "string") return new Wrong(wanted, value);
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value) ? Number(value) : new Wrong(wanted, value);
}

/** Converts a duration, a free-form struct or an enum to its JSON form, or returns why the value is invalid. */
export function decodeSingle(
  value: Value,
  kind: Exclude<Kind, { is: "message" | "scalar" | "wrapper" }>,
): Value | Wrong {
  if (kind.is === "struct") return isMap(value) ? value : new Wrong("a mapping", value);
  return kind.is === "duration" ? decodeDuration(value) : decodeEnum(value, kind.name);
}

function decodeDuration(value: Value): Value | Wrong {
  const wanted = 'a duration such as "45s"';
  if (typeof value !== "string") return new Wrong(wanted, value);
  const nanoseconds = readDuration(value);
  if (typeof nanoseconds !== "bigint") return new Wrong(wanted, value, `not "${value}": ${nanoseconds.reason}`);
  return durationText(nanoseconds);
}

/** Decodes an enum. Keeps a number without a name, because proto3 enums are open. */
function decodeEnum(value: Value, name: string): Value | Wrong {
  const type = enumType(name);
  if (typeof value === "string" && type.numbers.has(value)) return value;
  if (typeof value === "number" && Number.isInteger(value)) return type.names.get(value) ?? value;
  return new Wrong(`one of ${[...type.numbers.keys()].join(", ")}`, value);
}
