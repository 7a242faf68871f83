import { OrderedFields } from "../../../golang/go_json.ts";
import { GoInt, GoStruct, type GoValue, isGoMap } from "../../../golang/gotemplate/mod.ts";
import { newMap, type Value, type ValueMap } from "../../../base/value.ts";

/**
 * Converts a template's value to plain data, as if it were marshaled to JSON and parsed. Struct fields get their JSON
 * names; whole floats become integers. Throws an Error for a function, as encoding/json does.
 */
export function plain(value: GoValue): Value {
  if (typeof value === "function") throw new Error("json: unsupported type: func()");
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof GoInt) return Number.isSafeInteger(Number(value.value)) ? Number(value.value) : value.value;
  if (value instanceof GoStruct) return plainStruct(value);
  if (Array.isArray(value)) return value.map(plain);
  return isGoMap(value) ? plainEntries(Object.entries(value)) : null;
}

function plainStruct(struct: GoStruct): Value {
  if (struct instanceof OrderedFields) return plainEntries(struct.entries);
  return struct.isNil ? null : plain(struct.toJSONValue());
}

function plainEntries(entries: readonly (readonly [string, GoValue])[]): ValueMap {
  const map = newMap();
  for (const [key, item] of entries) map[key] = plain(item);
  return map;
}
