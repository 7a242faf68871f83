import { isShared } from "../../base/values/mod.ts";
import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";
import { readScalar } from "./scalar.ts";
import { type FieldType, type StructSchema, structSchema } from "../schema/schema.ts";

/**
 * Whether generic data has exactly the fields and types of a Kubernetes type, so that a strict `decode` finds no
 * problem. To get the problems, use `decode`, which takes three times as long because it also builds the typed object.
 */
export function fits(value: Value, type: string): boolean {
  return isMap(value) && fitsStruct(structSchema(type), value);
}

function fitsStruct({ byJson }: StructSchema, map: ValueMap): boolean {
  for (const key in map) {
    const field = byJson.get(key);
    if (field === undefined || !fitsType(field.type, map[key] ?? null)) return false;
  }
  return true;
}

/** The type that each shared value is already known to fit. */
const known = new WeakMap<object, FieldType>();

function fitsType(type: FieldType, value: Value): boolean {
  if (!isShared(value)) return fitsAnew(type, value);
  if (known.get(value) === type) return true;
  const isFit = fitsAnew(type, value);
  if (isFit) known.set(value, type);
  return isFit;
}

function fitsAnew(type: FieldType, value: Value): boolean {
  if (value === null) return true;
  switch (type.kind) {
    case "string":
      return typeof value === "string";
    case "struct":
      return isMap(value) && fitsStruct(structSchema(type.struct), value);
    case "list":
      return isList(value) && value.every((item) => fitsType(type.element, item));
    case "map":
      return isMap(value) && fitsMap(type.element, value);
    default:
      return readScalar(type.kind, value) !== undefined;
  }
}

function fitsMap(element: FieldType, map: ValueMap): boolean {
  for (const key in map) if (!fitsType(element, map[key] ?? null)) return false;
  return true;
}
