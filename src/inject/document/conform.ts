import { type FieldType, type StructSchema, structSchema } from "../../kube/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../base/value.ts";

/** Quantities that may be below a nano, which Kubernetes rounds up. */
const SUB_NANO = /\.\d+[nu]$|e-\d{2,}$/i;

/**
 * The user's manifest with corrections where Kubernetes reads another value: a number or boolean in a string field becomes
 * a string, a field name in another case becomes the type's name. Unknown fields stay. Shares unchanged parts; returns
 * the same object if nothing changes. `typed` is the manifest after `decode`.
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
  if (isMap(raw)) return conformMapping(raw, typed, type);
  if (isList(raw)) return type.kind === "list" ? conformList(raw, isList(typed) ? typed : [], type.element) : raw;
  return typeof typed === "string" && readOtherwise(raw, type.kind) ? typed : raw;
}

function conformMapping(raw: ValueMap, typed: Value | undefined, type: FieldType): ValueMap {
  if (type.kind === "struct") return conformStruct(raw, typed, structSchema(type.struct));
  return type.kind === "map" ? conformMap(raw, isMap(typed) ? typed : newMap(), type.element) : raw;
}

/** Whether Kubernetes reads another value than the scalar's. */
function readOtherwise(raw: Value, kind: FieldType["kind"]): boolean {
  if (kind === "string") return raw !== null && typeof raw !== "string";
  return kind === "quantity" && SUB_NANO.test(String(raw));
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
