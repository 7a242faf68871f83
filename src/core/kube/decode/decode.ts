import { isList, isMap, newMap, type Value, type ValueMap } from "../../value.ts";
import { expectedText, gotText, readScalar } from "./scalar.ts";
import { type Field, type FieldType, findField, type StructSchema, structSchema } from "../schema/schema.ts";
import { isOmitted, zeroValue } from "../schema/zero.ts";

/** A value that does not fit its field. */
export interface Problem {
  /** The field path, such as `spec.containers[0].image`. */
  readonly field: string;
  readonly expected: string;
  readonly got: string;
}

/** A typed object and what was wrong with its source. */
export interface Decoded {
  readonly value: ValueMap;
  readonly problems: readonly Problem[];
  /** Paths of the fields that the type does not have; they are not in `value`. */
  readonly unknown: readonly string[];
}

/**
 * Reads generic data as a Kubernetes type, and gives it as Kubernetes writes that type: known fields only, in
 * declaration order, without empty `omitempty` fields, with the fields that are always written, numbers and booleans as
 * text where the type is string, quantities and times canonical. A field that does not fit is reported and left zero.
 * `path` is put before the paths of problems. The input is not changed; subtrees without a type of their own are shared.
 * With `texts` "strict" a number or boolean where the type is string does not fit: generic data that was merged as such.
 * Source of the rules: sigs.k8s.io/yaml (conversion for string targets) and encoding/json.
 */
export function decode(value: Value, type: string, path = "", texts: "converted" | "strict" = "converted"): Decoded {
  const strict = texts === "strict";
  const reader: Reader = { path: path === "" ? [] : [path], problems: [], unknown: [], strict };
  const typed = readStruct(structSchema(type), value, reader);
  return { value: typed, problems: reader.problems, unknown: reader.unknown };
}

interface Reader {
  readonly path: (string | number)[];
  readonly problems: Problem[];
  readonly unknown: string[];
  readonly strict: boolean;
}

function readStruct(schema: StructSchema, value: Value, reader: Reader): ValueMap {
  if (isMap(value)) return readFields(schema, value, reader);
  if (value !== null) report("a mapping", value, reader);
  return readFields(schema, EMPTY, reader);
}

const EMPTY: ValueMap = Object.freeze(newMap());

function readFields(schema: StructSchema, data: ValueMap, reader: Reader): ValueMap {
  const problemsBefore = reader.problems.length;
  const unknownBefore = reader.unknown.length;
  const result = newMap();
  let matched = 0;
  for (const field of schema.fields) {
    const value = data[field.json];
    if (value !== undefined) matched++;
    const typed = value === undefined ? undefined : readField(field, value, reader);
    if (typed !== undefined) result[field.json] = typed;
    else if (field.always) result[field.json] = missing(field.type, reader);
  }
  if (matched === countKeys(data)) return result;
  const { renamed, unknown } = matchNames(schema, data);
  if (renamed !== undefined) {
    reader.problems.length = problemsBefore;
    reader.unknown.length = unknownBefore;
  }
  for (const key of unknown) reader.unknown.push(pathText([...reader.path, key]));
  // Names in another case are rare: only then the data is read a second time, under the names of the type.
  return renamed === undefined ? result : readFields(schema, renamed, reader);
}

/** A field's typed value, `undefined` if it is nothing to write. */
function readField(field: Field, value: Value, reader: Reader): Value | undefined {
  if (value === null && (field.type.pointer || field.type.kind !== "json")) return undefined;
  reader.path.push(field.json);
  const typed = readValue(field.type, value, reader);
  reader.path.pop();
  return isOmitted(field, typed) ? undefined : typed;
}

function missing(type: FieldType, reader: Reader): Value {
  return type.kind === "struct" && !type.pointer
    ? readFields(structSchema(type.struct), EMPTY, reader)
    : zeroValue(type);
}

function readValue(type: FieldType, value: Value, reader: Reader): Value {
  if (value === null && type.kind !== "json") return missing(type, reader);
  switch (type.kind) {
    case "struct":
      return readStruct(structSchema(type.struct), value, reader);
    case "list":
      return isList(value) ? readList(type.element, value, reader) : reject(type, value, reader);
    case "map":
      return isMap(value) ? readMap(type.element, value, reader) : reject(type, value, reader);
    default:
      return readLeaf(type, value, reader);
  }
}

function readLeaf(type: FieldType, value: Value, reader: Reader): Value {
  const isOtherText = reader.strict && type.kind === "string" && typeof value !== "string";
  return (isOtherText ? undefined : readScalar(type.kind, value)) ?? reject(type, value, reader);
}

function readList(element: FieldType, list: readonly Value[], reader: Reader): Value[] {
  return list.map((item, index) => {
    reader.path.push(index);
    const typed = readValue(element, item, reader);
    reader.path.pop();
    return typed;
  });
}

function readMap(element: FieldType, map: ValueMap, reader: Reader): ValueMap {
  const result = newMap();
  for (const key in map) {
    reader.path.push(key);
    result[key] = readValue(element, map[key] ?? null, reader);
    reader.path.pop();
  }
  return result;
}

function reject(type: FieldType, value: Value, reader: Reader): Value {
  report(expectedText(type), value, reader);
  return zeroValue(type);
}

function report(expected: string, value: Value, reader: Reader): void {
  reader.problems.push({ field: pathText(reader.path), expected, got: gotText(value) });
}

function countKeys(data: ValueMap): number {
  let count = 0;
  for (const _ in data) count++;
  return count;
}

/**
 * The names that the type does not have, and the data under the type's own names if some differ in case (of several
 * spellings the last in byte order wins, as in sorted JSON).
 */
function matchNames(schema: StructSchema, data: ValueMap): { renamed: ValueMap | undefined; unknown: string[] } {
  const named = newMap();
  const unknown: string[] = [];
  let differs = false;
  for (const key of Object.keys(data).sort()) {
    const field = findField(schema, key);
    if (field === undefined) unknown.push(key);
    else named[field.json] = data[key] ?? null;
    differs ||= field !== undefined && field.json !== key;
  }
  return { renamed: differs ? named : undefined, unknown };
}

/** `spec.containers[0].image`; keys that are no plain words in brackets: `metadata.labels["a.b/c"]`. */
function pathText(path: readonly (string | number)[]): string {
  return path.map((part, index) => {
    if (typeof part === "number") return `[${part}]`;
    if (index > 0 && !/^[\w$/-]+$/.test(part)) return `[${JSON.stringify(part)}]`;
    return index === 0 ? part : `.${part}`;
  }).join("");
}
