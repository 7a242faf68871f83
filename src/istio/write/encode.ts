import { OrderedFields } from "../../golang/go_json.ts";
import type { GoValue } from "../../golang/go_value.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../base/value.ts";
import { zeroOf } from "../decode/decode_single.ts";
import type { Era } from "../era.ts";
import { type Field, type Message, messageType } from "../schema/schema.ts";

/**
 * A decoded message as proto3 JSON: fields in declaration order (the set field of a oneof at the position of the
 * oneof's first field), without zero values and unknown fields.
 */
export function encodeMessage(data: ValueMap, name: string, era: Era): OrderedFields {
  const entries: [string, GoValue][] = [];
  for (const field of inOrder(messageType(name, era), data)) {
    const value = data[field.json];
    if (value === undefined || isUnset(value, field)) continue;
    entries.push([field.json, encodeField(value, field, era)]);
  }
  return new OrderedFields(entries);
}

/** The fields that are set in the data, in the order of the JSON. */
function inOrder({ fields }: Message, data: ValueMap): Field[] {
  const seen = new Set<string>();
  const found: Field[] = [];
  for (const field of fields) {
    if (field.oneof === undefined) {
      if (data[field.json] !== undefined) found.push(field);
    } else if (!seen.has(field.oneof)) {
      seen.add(field.oneof);
      found.push(...fields.filter((other) => other.oneof === field.oneof && data[other.json] !== undefined));
    }
  }
  return found;
}

/** Whether proto3 treats a value as unset: a zero value, except for messages, wrappers and fields of a oneof. */
export function isUnset(value: Value, field: Field): boolean {
  if (field.shape === "list") return isList(value) && value.length === 0;
  if (field.shape === "map") return isMap(value) && Object.keys(value).length === 0;
  if (field.oneof !== undefined || (field.kind.is !== "scalar" && field.kind.is !== "enum")) return false;
  return value === zeroOf(field.kind);
}

function encodeField(value: Value, field: Field, era: Era): GoValue {
  if (field.kind.is !== "message") return value;
  const { name } = field.kind;
  if (field.shape === "list" && isList(value)) return value.map((item) => encodeOne(item, name, era));
  if (field.shape === "one" || !isMap(value)) return encodeOne(value, name, era);
  const result: Record<string, GoValue> = Object.create(null);
  for (const [key, item] of Object.entries(value)) result[key] = encodeOne(item, name, era);
  return result;
}

function encodeOne(value: Value, name: string, era: Era): GoValue {
  return encodeMessage(isMap(value) ? value : newMap(), name, era);
}
