import { compareUtf8 } from "../go_json.ts";
import { GoInt, type GoMap, GoStruct, type GoValue, typeTag } from "../go_value.ts";

const INT_KINDS = ["int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64"] as const;

/** A kind as Go's `reflect.Kind` prints it; `invalid` for nil. */
export type Kind =
  | "invalid"
  | "bool"
  | "string"
  | "int"
  | "float64"
  | "slice"
  | "map"
  | "struct"
  | "ptr"
  | "func"
  | (typeof INT_KINDS)[number];

const kindsByType: Readonly<Record<string, Kind>> = {
  boolean: "bool",
  string: "string",
  bigint: "int",
  number: "float64",
  function: "func",
};

/** The kind of a value, as `kindOf` of sprig prints it. */
export function kindOf(value: GoValue): Kind {
  if (value === null) return "invalid";
  if (typeof value !== "object") return kindsByType[typeof value] ?? "invalid";
  if (Array.isArray(value)) return "slice";
  if (value instanceof GoInt) return INT_KINDS.find((kind) => kind === value.type) ?? "int64";
  if (value instanceof GoStruct) return structKind(value);
  return "map";
}

function structKind(value: GoStruct): Kind {
  const number = value.integer();
  if (number !== undefined) return kindOf(number);
  return isPointer(value) ? "ptr" : "struct";
}

/** Whether a struct view represents a pointer. */
export function isPointer(value: GoStruct): boolean {
  return value.goType.startsWith("*");
}

/** Whether a kind is an unsigned integer. */
export function isUnsigned(kind: Kind): boolean {
  return kind.startsWith("uint");
}

/** The Go type of a value as `%T` prints it; `<nil>` for nil. */
export function typeOf(value: GoValue): string {
  if (value === null) return "<nil>";
  if (isList(value)) return typeTag(value) ?? "[]interface {}";
  if (isGoMap(value)) return typeTag(value) ?? "map[string]interface {}";
  if (value instanceof GoStruct) return value.goType;
  if (value instanceof GoInt) return value.type;
  return typeof value === "function" ? funcType(value) : kindOf(value);
}

function funcType(value: Extract<GoValue, (...args: never[]) => unknown>): string {
  const params = [...value.signature.params];
  if (value.signature.variadic === true) params.push(`...${params.pop() ?? ""}`);
  return `func(${params.join(", ")}) interface {}`;
}

/** Whether a value is a slice. */
export function isList(value: GoValue | undefined): value is readonly GoValue[] {
  return Array.isArray(value);
}

/** Whether a value is a map. */
export function isGoMap(value: GoValue | undefined): value is GoMap {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof GoInt) &&
    !(value instanceof GoStruct);
}

/** The keys of a map in Go's printing and ranging order: by bytes. */
export function sortedKeys(map: GoMap): string[] {
  return Object.keys(map).sort(compareUtf8);
}
