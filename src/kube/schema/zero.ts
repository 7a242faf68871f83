import { newMap, type Value } from "../../base/value.ts";
import type { Field, FieldType } from "./schema.ts";

/**
 * Returns the zero value of a type as encoding/json writes it: `""`, `false`, `0`, or `null` for a type that can be
 * nil. For a struct, returns an empty map, to which the caller adds the fields.
 */
export function zeroValue({ kind, pointer }: FieldType): Value {
  if (pointer) return null;
  return kind === "struct" ? newMap() : ZERO[kind] ?? null;
}

const ZERO: Readonly<Partial<Record<FieldType["kind"], Value>>> = {
  string: "",
  bool: false,
  int32: 0,
  int64: 0,
  intOrString: 0,
  quantity: "0",
};

/** Whether `omitempty` drops a field's value: false, 0, "", nil and empty collections. */
export function isOmitted(field: Field, value: Value): boolean {
  if (field.always) return false;
  if (value === null) return true;
  const { kind, pointer } = field.type;
  if (pointer) return false;
  if (kind === "list") return Array.isArray(value) && value.length === 0;
  if (kind === "map") return Object.keys(value).length === 0;
  return value === "" || value === false || value === 0;
}
