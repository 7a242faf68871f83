import { type FieldType, type StructSchema, structSchema } from "../core/kube/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../core/value.ts";

/** Quantities that may be smaller than a nano, which Kubernetes rounds up. */
const SUB_NANO = /\.\d+[nu]$|e-\d{2,}$/i;

/**
 * A manifest as the user wrote it, with only that changed which Kubernetes reads otherwise than it is written: a number
 * or boolean where the type has a string becomes that string, a field name in another case the type's. Fields that the
 * type does not have stay. Shares everything that is not changed; the same object if nothing is.
 * `typed` is what `decode` made of the manifest.
 */
export function conform(manifest: ValueMap, typed: ValueMap, type: string): ValueMap {
  return conformStruct(manifest, typed, structSchema(type));
}

function conformStruct(raw: ValueMap, typed: Value | undefined, schema: StructSchema): ValueMap {
  const fields = isMap(typed) ? typed : newMap();
  let copy: ValueMap | undefined;
  for (const key of Object.keys(raw)) {
    const field = schema.byJson.get(key) ?? schema.byFold.get(key.toLowerCase());
    const before = raw[key] ?? null;
    if (field === undefined) continue;
    const after = conformValue(before, fields[field.json], field.type);
    if (after === before && field.json === key) continue;
    copy ??= Object.assign(newMap(), raw);
    if (field.json !== key) delete copy[key];
    copy[field.json] = after;
  }
  return copy ?? raw;
}

function conformValue(raw: Value, typed: Value | undefined, type: FieldType): Value {
  switch (type.kind) {
    case "string":
      return raw !== null && typeof raw !== "string" && typeof typed === "string" ? typed : raw;
    case "quantity":
      return SUB_NANO.test(String(raw)) && typeof typed === "string" ? typed : raw;
    case "struct":
      return isMap(raw) ? conformStruct(raw, typed, structSchema(type.struct)) : raw;
    case "list":
      return isList(raw) && isList(typed) ? conformList(raw, typed, type.element) : raw;
    case "map":
      return isMap(raw) && isMap(typed) ? conformMap(raw, typed, type.element) : raw;
    default:
      return raw;
  }
}

function conformList(raw: Value[], typed: Value[], element: FieldType): Value[] {
  const items = raw.map((item, index) =>
    item === null ? typed[index] ?? null : conformValue(item, typed[index], element)
  );
  return items.every((item, index) => item === raw[index]) ? raw : items;
}

function conformMap(raw: ValueMap, typed: ValueMap, element: FieldType): ValueMap {
  let copy: ValueMap | undefined;
  for (const key of Object.keys(raw)) {
    const before = raw[key] ?? null;
    const after = before === null ? typed[key] ?? null : conformValue(before, typed[key], element);
    if (after === before) continue;
    copy ??= Object.assign(newMap(), raw);
    copy[key] = after;
  }
  return copy ?? raw;
}
