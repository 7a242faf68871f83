import { goJson, OrderedFields } from "../../golang/go_json.ts";
import type { GoValue } from "../../golang/go_value.ts";
import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";
import { type Field, type FieldType, type StructSchema, structSchema } from "../schema/schema.ts";
import { isOmitted, zeroValue } from "../schema/zero.ts";

/**
 * Formats a typed object as Go's json.Marshal does. Fields are in declaration order, map keys are sorted, and HTML
 * characters are escaped. An empty field is dropped if it has `omitempty`; any other absent field is written with its
 * zero value. The value must have the types that `decode` returns. Leaves out fields that the type does not have.
 */
export function toGoJson(value: ValueMap, type: string): string {
  return goJson(orderedFields(structSchema(type), value));
}

/** Returns the fields of the JSON object that Go writes for a struct. */
export function orderedFields(schema: StructSchema, data: ValueMap): OrderedFields {
  const entries: [string, GoValue][] = [];
  for (const field of schema.fields) {
    const value = writtenValue(field, data[field.json]);
    if (value !== undefined) entries.push([field.json, jsonValue(field.type, value)]);
  }
  return new OrderedFields(entries);
}

function writtenValue(field: Field, value: Value | undefined): Value | undefined {
  if (value === undefined || value === null) return field.always ? zeroValue(field.type) : undefined;
  return isOmitted(field, value) ? undefined : value;
}

/**
 * Converts a typed value for the JSON writer, which sorts the keys of plain maps and keeps the field order of structs.
 */
function jsonValue(type: FieldType, value: Value): GoValue {
  if (type.kind === "struct" && isMap(value)) return orderedFields(structSchema(type.struct), value);
  if (type.kind === "list" && isList(value)) return value.map((item) => jsonValue(type.element, item));
  if (type.kind === "map" && isMap(value)) return jsonMap(type.element, value);
  return value;
}

function jsonMap(element: FieldType, map: ValueMap): GoValue {
  if (element.kind !== "struct" && element.kind !== "list") return map;
  const result: { [key: string]: GoValue } = Object.create(null);
  for (const key in map) result[key] = jsonValue(element, map[key] ?? null);
  return result;
}
