import { SCHEMA_TABLE } from "./schema_table.ts";

/** Types that are one value in JSON; some are structs in Go. */
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

/** The Go type of a field or of an element. `text` is its Go spelling without packages, such as `*int64` or `[]Container`. */
export type FieldType =
  & { readonly text: string; readonly pointer: boolean }
  & (
    | { readonly kind: ScalarKind }
    | { readonly kind: "struct"; readonly struct: string }
    | { readonly kind: "list" | "map"; readonly element: FieldType }
  );

/** One JSON field of a Kubernetes type. */
export interface Field {
  readonly json: string;
  /** Its place in the declaration. */
  readonly place: number;
  readonly go: string;
  readonly type: FieldType;
  /** Written even when it is zero: no `omitempty`, or a struct, which `omitempty` does not drop. */
  readonly always: boolean;
  /** Embedded under its JSON name, so that its own fields and methods are promoted (`ObjectMeta`). */
  readonly embedded: boolean;
  /** The embedded struct without a JSON name that it comes from, such as `ProbeHandler`; empty for most. */
  readonly inlinedFrom: string;
  /** Whether strategic merge patch merges the list by element instead of replacing it. */
  readonly mergesList: boolean;
  /** The field that identifies a list element; empty where elements are scalars or the list is replaced. */
  readonly mergeKey: string;
}

/** A Kubernetes struct type, embedded structs without a JSON name flattened as encoding/json does. */
export interface StructSchema {
  readonly name: string;
  /** The type as Go prints it: `v1.PodSpec`. */
  readonly goType: string;
  readonly fields: readonly Field[];
  /** Those that are written even when they are zero. */
  readonly always: readonly Field[];
  readonly byJson: ReadonlyMap<string, Field>;
  readonly byGo: ReadonlyMap<string, Field>;
  /** Fields by lower-cased JSON name: encoding/json ignores case where no name is equal. */
  readonly byFold: ReadonlyMap<string, Field>;
}

const parsed = new Map<string, StructSchema>();

/**
 * The schema of a type of the table, such as `Pod`, `PodSpec` or `openshift.DeploymentConfig`; read on first use.
 * A name that is not in the table throws an Error: it is a defect of the caller.
 */
export function structSchema(name: string): StructSchema {
  const known = parsed.get(name);
  if (known !== undefined) return known;
  const schema = parseStruct(name);
  parsed.set(name, schema);
  return schema;
}

/** The field that encoding/json fills for a JSON name: an equal name first, then one that differs in case. */
export function findField(schema: StructSchema, json: string): Field | undefined {
  return schema.byJson.get(json) ?? schema.byFold.get(json.toLowerCase());
}

function parseStruct(name: string): StructSchema {
  const text = Object.hasOwn(SCHEMA_TABLE, name) ? SCHEMA_TABLE[name] : undefined;
  if (text === undefined) throw new Error(`The Kubernetes type "${name}" is not in the schema table`);
  const fields = text === "" ? [] : text.split(";").map(parseField);
  let byGo: StructSchema["byGo"] | undefined;
  let byFold: StructSchema["byFold"] | undefined;
  return {
    name,
    goType: `v1.${name.replace("openshift.", "")}`,
    fields,
    always: fields.filter((field) => field.always),
    byJson: new Map(fields.map((field) => [field.json, field])),
    // Few types need them.
    get byGo() {
      return byGo ??= new Map(fields.map((field) => [field.go, field]));
    },
    get byFold() {
      return byFold ??= new Map(fields.map((field) => [field.json.toLowerCase(), field]));
    },
  };
}

function parseField(text: string, place: number): Field {
  const [json = "", go = "", type = "", ...marks] = text.split(" ");
  return { json, place, go, type: fieldType(type), ...marks.length === 0 ? UNMARKED : parseMarks(marks) };
}

function parseMarks(marks: readonly string[]): Omit<Field, "json" | "place" | "go" | "type"> {
  const marked = (prefix: string) => marks.find((mark) => mark.startsWith(prefix))?.slice(prefix.length);
  return {
    always: marks.includes("!"),
    embedded: marks.includes("@"),
    inlinedFrom: marked("^") ?? "",
    mergesList: marked("s=")?.split(",").includes("merge") ?? false,
    mergeKey: marked("k=") ?? "",
  };
}

const UNMARKED = parseMarks([]);

const types = new Map<string, FieldType>();

/** Many fields have the same type. */
function fieldType(text: string): FieldType {
  const known = types.get(text) ?? parseType(text);
  types.set(text, known);
  return known;
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
