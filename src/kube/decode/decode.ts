import { fieldText } from "../../base/field_path.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../base/value.ts";
import { expectedText, gotText, readScalar } from "./scalar.ts";
import { type Field, type FieldType, findField, type StructSchema, structSchema } from "../schema/schema.ts";
import { isOmitted, zeroValue } from "../schema/zero.ts";

export interface Problem {
  /** The field path, such as `spec.containers[0].image`. */
  readonly field: string;
  readonly expected: string;
  readonly got: string;
}

/** Formats problems as text for a message. */
export function problemTexts(problems: readonly Problem[]): string {
  return problems.map(({ field, expected, got }) => `"${field}" must be ${expected}, not ${got}`).join("; ");
}

/** A typed object, and the problems of its source. */
interface Decoded {
  readonly value: ValueMap;
  readonly problems: readonly Problem[];
  /** Whether field names and scalars equal the source, and the source has no null in a list or map. */
  readonly isAsWritten: boolean;
}

/**
 * Decodes generic data as a Kubernetes type. The result has the form that Kubernetes writes. It contains only known
 * fields, in declaration order, with canonical quantities and times. An empty field is dropped if it has `omitempty`;
 * any other absent field has its zero value. A value of the wrong type is a problem, and its field gets the zero value.
 * With `texts` "converted", a number or boolean in a string field becomes text; with "strict", it is a problem.
 * Does not change the input. The result shares subtrees without a declared type with the input.
 * Source of the rules: sigs.k8s.io/yaml (conversion for string targets) and encoding/json.
 */
export function decode(value: Value, type: string, texts: "converted" | "strict" = "converted"): Decoded {
  const reader: Reader = { path: [], problems: [], strict: texts === "strict", isAsWritten: true };
  const typed = readStruct(structSchema(type), value, reader);
  return { value: typed, problems: reader.problems, isAsWritten: reader.isAsWritten };
}

interface Reader {
  readonly path: (string | number)[];
  readonly problems: Problem[];
  readonly strict: boolean;
  isAsWritten: boolean;
}

function readStruct(schema: StructSchema, value: Value, reader: Reader): ValueMap {
  if (isMap(value)) return readFields(schema, value, reader);
  if (value !== null) report("a mapping", value, reader);
  return readFields(schema, EMPTY, reader);
}

const EMPTY: ValueMap = Object.freeze(newMap());

function readFields(schema: StructSchema, data: ValueMap, reader: Reader): ValueMap {
  const problemsBefore = reader.problems.length;
  const result = newMap();
  for (const field of schema.fields) {
    const value = data[field.json];
    const typed = value === undefined ? undefined : readField(field, value, reader);
    if (typed !== undefined) result[field.json] = typed;
    else if (field.always) result[field.json] = missing(field.type, reader);
  }
  if (Object.keys(data).every((key) => schema.byJson.has(key))) return result;
  // Only names that differ from the type's in case need a second pass, and they are rare.
  const renamed = underTypeNames(schema, data);
  if (renamed === undefined) return result;
  reader.isAsWritten = false;
  reader.problems.length = problemsBefore;
  return readFields(schema, renamed, reader);
}

/** Returns the typed value of a field; `undefined` if Kubernetes does not write the field. */
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
  if (value === null && type.kind !== "json") {
    reader.isAsWritten = false;
    return missing(type, reader);
  }
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
  const typed = (isOtherText ? undefined : readScalar(type.kind, value)) ?? reject(type, value, reader);
  if (typed !== value) reader.isAsWritten = false;
  return typed;
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
  reader.problems.push({ field: fieldText(reader.path), expected, got: gotText(value) });
}

/**
 * Renames fields to the spelling of the type; returns `undefined` if no name differs in case. If a field has several
 * spellings, the last in byte order wins, as in sorted JSON.
 */
function underTypeNames(schema: StructSchema, data: ValueMap): ValueMap | undefined {
  const named = newMap();
  let differs = false;
  for (const key of Object.keys(data).sort()) {
    const field = findField(schema, key);
    if (field === undefined) continue;
    named[field.json] = data[key] ?? null;
    differs ||= field.json !== key;
  }
  return differs ? named : undefined;
}
