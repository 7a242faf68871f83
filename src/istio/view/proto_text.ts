import { compareUtf8 } from "../../golang/go_json.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../base/value.ts";
import { isUnset } from "../write/encode.ts";
import type { Era } from "../era.ts";
import { type Field, type Kind, messageType } from "../schema/schema.ts";
import { DurationView } from "./view_types.ts";

/**
 * A message in the proto text format, on one line: `config_path:"/etc" drain_duration:{seconds:45}`. Fields are separated
 * by one space. Go randomly adds a second space.
 */
export function messageText(data: ValueMap, name: string, era: Era): string {
  return messageType(name, era).fields.flatMap((field) => {
    const value = data[field.json];
    return value === undefined || isUnset(value, field) ? [] : fieldTexts(value, field, era);
  }).join(" ");
}

function fieldTexts(value: Value, field: Field, era: Era): string[] {
  if (field.shape === "list" && isList(value)) {
    return value.map((item) => `${field.name}:${valueText(item, field.kind, era)}`);
  }
  if (field.shape === "one" || !isMap(value)) return [`${field.name}:${valueText(value, field.kind, era)}`];
  const entries = Object.entries(value).sort(([a], [b]) => compareUtf8(a, b));
  return entries.map(([key, item]) =>
    `${field.name}:{key:${JSON.stringify(key)} value:${valueText(item, field.kind, era)}}`
  );
}

function valueText(value: Value, kind: Kind, era: Era): string {
  if (kind.is === "message") return `{${messageText(isMap(value) ? value : newMap(), kind.name, era)}}`;
  if (kind.is === "duration") return `{${new DurationView(String(value)).text()}}`;
  if (kind.is === "wrapper") return `{value:${value}}`;
  if (kind.is === "scalar" && kind.type !== "string") return String(value);
  return kind.is === "enum" ? String(value) : JSON.stringify(value);
}
