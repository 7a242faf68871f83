import { GoInt, type GoMap, GoStruct, type GoValue, typed } from "../../golang/go_value.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../base/value.ts";
import { IntOrStringView, NIL_LIST, NIL_MAP, QuantityView, ScalarPointer, TimeView } from "./leaf_views.ts";
import { type FieldType, type StructSchema, structSchema } from "../schema/schema.ts";
import { orderedFields } from "./typed_json.ts";
import { zeroValue } from "../schema/zero.ts";

/**
 * Returns a typed object (from `decode`) as a Go template sees the struct: fields by their Go names, including embedded
 * and promoted fields. Absent fields have their zero value. Do not change the object while the view is in use, because
 * the view caches fields.
 */
export function goView(value: Value, type: string): GoStruct {
  return new StructView(structSchema(type), isMap(value) ? value : NO_FIELDS, false);
}

const NIL_STRINGS: GoMap = typed(Object.freeze(newMap()), "map[string]string");
const NO_FIELDS: ValueMap = Object.freeze(newMap());

class StructView extends GoStruct {
  override readonly goType: string;
  readonly #seen = new Map<string, GoValue | undefined>();

  /** `data` is null for a nil pointer. */
  constructor(readonly schema: StructSchema, readonly data: ValueMap | null, pointer: boolean) {
    super();
    this.goType = pointer ? `*${schema.goType}` : schema.goType;
  }

  override get isNil(): boolean {
    return this.data === null;
  }

  override get(name: string): GoValue | undefined {
    if (this.#seen.has(name)) return this.#seen.get(name);
    const value = this.#find(name);
    this.#seen.set(name, value);
    return value;
  }

  override fieldNames(): readonly string[] {
    return [...new Set(this.schema.fields.map((field) => field.inlinedFrom || field.go))];
  }

  override toJSONValue(): GoValue {
    return this.data === null ? null : orderedFields(this.schema, this.data);
  }

  #find(name: string): GoValue | undefined {
    const data = this.data ?? NO_FIELDS;
    const field = this.schema.byGo.get(name);
    if (field !== undefined) return fieldView(field.type, data[field.json]);
    if (this.schema.fields.some((inner) => inner.inlinedFrom === name)) {
      return new StructView(structSchema(name), this.data, false);
    }
    // metav1.ObjectMeta has a getter for each field, and so has every struct that embeds ObjectMeta.
    const isGetter = this.schema.name === "ObjectMeta" && name.startsWith("Get") && this.schema.byGo.has(name.slice(3));
    return isGetter ? this.get(name.slice(3)) : this.#promoted(name);
  }

  #promoted(name: string): GoValue | undefined {
    for (const field of this.schema.fields) {
      if (!field.embedded) continue;
      const struct = this.get(field.go);
      const value = struct instanceof StructView ? struct.get(name) : undefined;
      if (value !== undefined) return value;
    }
    return undefined;
  }
}

function fieldView(type: FieldType, value: Value | undefined): GoValue {
  const data = value ?? null;
  if (type.kind === "struct") return structView(type.struct, data, type.pointer);
  if (type.pointer) return pointerView(type, data);
  if (type.kind === "list") return isList(data) ? data.map((item) => fieldView(type.element, item)) : NIL_LIST;
  if (type.kind === "map") return mapView(type, isMap(data) ? data : undefined);
  return scalarView(type.kind, data ?? zeroValue(type));
}

function structView(struct: string, data: Value, pointer: boolean): GoStruct {
  const absent = pointer ? null : NO_FIELDS;
  return new StructView(structSchema(struct), isMap(data) ? data : absent, pointer);
}

/** Returns the view of a pointer. Only a scalar needs a pointer object: a pointer to a struct prints as the struct. */
function pointerView(type: FieldType, data: Value): GoValue {
  if (data === null) return new ScalarPointer(type.text, null);
  const target = scalarView(type.kind, data);
  return target instanceof GoStruct ? target : new ScalarPointer(type.text, target);
}

type CompositeType = Extract<FieldType, { readonly element: FieldType }>;

/** Returns the view of a map. A map of strings keeps its Go type, so that a missing key is "" in templates. */
function mapView({ text, element }: CompositeType, map: ValueMap | undefined): GoMap {
  if (element.kind === "string") return map === undefined ? NIL_STRINGS : typed(map, text);
  if (map === undefined) return NIL_MAP;
  const result: { [key: string]: GoValue } = Object.create(null);
  for (const key in map) result[key] = fieldView(element, map[key]);
  return result;
}

function scalarView(kind: FieldType["kind"], value: Value): GoValue {
  switch (kind) {
    case "int32":
    case "int64":
      return new GoInt(typeof value === "number" || typeof value === "bigint" ? BigInt(value) : 0n, kind);
    case "quantity":
      return new QuantityView(String(value));
    case "intOrString":
      return new IntOrStringView(typeof value === "number" ? value : String(value));
    case "time":
      return new TimeView(typeof value === "string" ? value : null);
    default:
      return value;
  }
}
