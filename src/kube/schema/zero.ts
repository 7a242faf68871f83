import { newMap, type Value } from "../../base/value.ts";
import type { Field, FieldType } from "./schema.ts";

/**
 * What encoding/json writes for the zero value of a type: `""`, `false`, `0`, or `null` if it can be nil. A struct is an
 * empty map here: its zero value depends on its fields, so the caller makes it.
 */
export function zeroValue(type: FieldType): Value {
  if (type.pointer) return null;
  switch (type.kind) {
    case "string":
      return "";
    case "bool":
      return false;
    case "int32":
    case "int64":
    case "intOrString":
      return 0;
    case "quantity":
      return "0";
    case "struct":
      return newMap();
    default:
      return null;
  }
}

/** Whether `omitempty` drops a field's value: false, 0, "", nil and empty collections. */
export function isOmitted(field: Field, value: Value): boolean {
  if (field.always) return false;
  if (value === null) return true;
  const { kind, pointer } = field.type;
  if (pointer) return false;
  if (kind === "list") return Array.isArray(value) && value.length === 0;
  if (kind === "map") return !hasKeys(value);
  return value === "" || value === false || value === 0;
}

function hasKeys(value: Value): boolean {
  for (const _ in Object(value)) return true;
  return false;
}
