import { SCHEMA_TABLE } from "./schema_table.ts";

/** Types with a single value in JSON, although some are structs in Go. */
const SCALARS = {
  string: "string",
  bool: "bool",
  int32: "int32",
  int64: "int64",
  Quantity: "quantity",
  IntOrString: "intOrString",
  Time: "time",
  JSON: "json",
} as const;

type ScalarKind = typeof SCALARS[keyof typeof SCALARS];

/**
 * The Go type of a field or of an element. `text` is its Go spelling without packages, such as `*int64` or
 * `[]Container`.
 */
export type FieldType =
  & { readonly text: string; readonly pointer: boolean }
  & (
    | { readonly kind: ScalarKind }
    | { readonly kind: "struct"; readonly struct: string }
    | { readonly kind: "list" | "map"; readonly element: FieldType }
  );

export interface Field {
  readonly json: string;
  readonly go: string;
  readonly type: FieldType;
  /**
   * Whether Go writes the field even when it is zero. This is true if the field lacks `omitempty`, or is a struct,
   * which `omitempty` does not drop.
   */
  readonly always: boolean;
  /** Whether the struct is embedded under its JSON name, so that its fields and methods are promoted (`ObjectMeta`). */
  readonly embedded: boolean;
  /** The embedded struct without a JSON name that declares the field, such as `ProbeHandler`; usually empty. */
  readonly inlinedFrom: string;
  /** Whether a strategic merge patch merges the list by element instead of replacing it. */
  readonly mergesList: boolean;
  /** The field that identifies a list element; empty for scalars and for lists that a patch replaces. */
  readonly mergeKey: string;
}

/** A Kubernetes struct type. Embedded structs without a JSON name are flattened, as in encoding/json. */
export interface StructSchema {
  readonly name: string;
  /** The type as Go prints it, such as `v1.PodSpec`. */
  readonly goType: string;
  readonly fields: readonly Field[];
  readonly byJson: ReadonlyMap<string, Field>;
  readonly byGo: ReadonlyMap<string, Field>;
  /** Fields by lower-case JSON name, because encoding/json ignores case if no name is equal. */
  readonly byFold: ReadonlyMap<string, Field>;
}

const parsed = new Map<string, StructSchema>();

/**
 * Returns the schema of a type in the table, such as `Pod`, `PodSpec` or `openshift.DeploymentConfig`, parsed on first
 * use. Throws an Error for a name that is not in the table, which is a defect of the caller.
 */
export function structSchema(name: string): StructSchema {
  const known = parsed.get(name);
  if (known !== undefined) return known;
  const schema = parseStruct(name);
  parsed.set(name, schema);
  return schema;
}

/**
 * Returns the field that encoding/json fills for a JSON name: a field with an equal name, or with a name that differs
 * in case.
 */
export function findField(schema: StructSchema, json: string): Field | undefined {
  return schema.byJson.get(json) ?? schema.byFold.get(json.toLowerCase());
}

function parseStruct(name: string): StructSchema {
  const text = Object.hasOwn(SCHEMA_TABLE, name) ? SCHEMA_TABLE[name] : undefined;
  if (text === undefined) throw new Error(`The Kubernetes type "${name}" is not in the schema table`);
  const fields = text === "" ? [] : text.split(";").map(parseField);
  return {
    name,
    goType: `v1.${name.replace("openshift.", "")}`,
    fields,
    byJson: new Map(fields.map((field) => [field.json, field])),
    byGo: new Map(fields.map((field) => [field.go, field])),
    byFold: new Map(fields.map((field) => [field.json.toLowerCase(), field])),
  };
}

function parseField(text: string): Field {
  const [json = "", go = "", type = "", ...marks] = text.split(" ");
  const marked = (prefix: string) => marks.find((mark) => mark.startsWith(prefix))?.slice(prefix.length);
  return {
    json,
    go,
    type: parseType(type),
    always: marks.includes("!"),
    embedded: marks.includes("@"),
    inlinedFrom: marked("^") ?? "",
    mergesList: marked("s=")?.split(",").includes("merge") ?? false,
    mergeKey: marked("k=") ?? "",
  };
}

function parseType(text: string): FieldType {
  if (text.startsWith("*")) return { ...parseType(text.slice(1)), text, pointer: true };
  if (text.startsWith("[]")) return { kind: "list", element: parseType(text.slice(2)), text, pointer: false };
  const map = "map[string]";
  if (text.startsWith(map)) return { kind: "map", element: parseType(text.slice(map.length)), text, pointer: false };
  if (isScalar(text)) return { kind: SCALARS[text], text, pointer: false };
  return { kind: "struct", struct: text, text, pointer: false };
}

function isScalar(text: string): text is keyof typeof SCALARS {
  return Object.hasOwn(SCALARS, text);
}
