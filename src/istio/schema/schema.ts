import type { Era } from "../era.ts";
import { LEGACY_FIELDS } from "./legacy_fields.ts";
import { ENUMS, MESSAGES } from "./schema_data.ts";

/** The kind of a field's value: a scalar, a well-known type, another message or an enum (by its Go name). */
export type Kind =
  | { readonly is: "scalar"; readonly type: Scalar }
  | { readonly is: "wrapper"; readonly type: Scalar; readonly name: string }
  | { readonly is: "duration" }
  | { readonly is: "struct" }
  | { readonly is: "message"; readonly name: string }
  | { readonly is: "enum"; readonly name: string };

const SCALARS = ["string", "bool", "int32", "uint32", "int64", "double"] as const;

export type Scalar = typeof SCALARS[number];

/** A field of a message: its names in proto, JSON and Go, and the kind of its value. */
export interface Field {
  readonly name: string;
  readonly json: string;
  readonly go: string;
  readonly shape: "one" | "list" | "map";
  readonly kind: Kind;
  /** The proto name of the oneof to which the field belongs. */
  readonly oneof: string | undefined;
}

/** A message: its fields in declaration order. */
export interface Message {
  /** The Go name, such as `v1alpha1.ProxyConfig`. */
  readonly name: string;
  readonly fields: readonly Field[];
  readonly byKey: ReadonlyMap<string, Field>;
}

/** An enum: numbers by name and names by number. */
interface EnumType {
  readonly name: string;
  readonly numbers: ReadonlyMap<string, number>;
  readonly names: ReadonlyMap<number, string>;
}

/** The Go names of the two messages that users write. */
export const MESH_CONFIG = "v1alpha1.MeshConfig";
export const PROXY_CONFIG = "v1alpha1.ProxyConfig";

const messages = new Map<string, Message>();
const enums = new Map<string, EnumType>();

/** Returns the message with a Go name, as an era declares it. Throws an Error for an unknown name. */
export function messageType(name: string, era: Era): Message {
  const key = `${era} ${name}`;
  const known = messages.get(key);
  if (known !== undefined) return known;
  const fields = fieldTexts(name, era).map(readField);
  const made = { name, fields, byKey: new Map(fields.flatMap((field) => [[field.name, field], [field.json, field]])) };
  messages.set(key, made);
  return made;
}

/** Returns the enum with a Go name. Throws an Error for an unknown name. */
export function enumType(name: string): EnumType {
  const known = enums.get(name);
  if (known !== undefined) return known;
  const values = textOf(ENUMS, name).split(",").map((pair): [string, number] => {
    const [word = "", number = ""] = pair.split("=");
    return [word, Number(number)];
  });
  const made = { name, numbers: new Map(values), names: new Map(values.map(([word, number]) => [number, word])) };
  enums.set(name, made);
  return made;
}

function textOf(table: Readonly<Record<string, string>>, name: string): string {
  const text = table[name];
  if (text === undefined) throw new Error(`The mesh schema has no type ${name}`);
  return text;
}

function fieldTexts(name: string, era: Era): string[] {
  const text = textOf(MESSAGES, name);
  const fields = text === "" ? [] : text.split(";");
  for (const [message, eras, after, field] of LEGACY_FIELDS) {
    if (message !== name || !eras.includes(era)) continue;
    const at = fields.findIndex((known) => wordOf(known) === after);
    const replaced = after === wordOf(field) ? 1 : 0;
    fields.splice(at + 1 - replaced, replaced, field);
  }
  return fields;
}

function wordOf(field: string): string {
  return field.slice(0, field.indexOf(" "));
}

function readField(text: string): Field {
  const [name = "", type = "", oneof] = text.split(" ");
  const prefix = type.slice(0, 2);
  const shape = prefix === "[]" ? "list" : prefix === "{}" ? "map" : "one";
  const kind = readKind(shape === "one" ? type : type.slice(2));
  return { name, json: jsonName(name), go: goName(name), shape, kind, oneof };
}

const WRAPPERS: ReadonlyMap<string, Scalar> = new Map([
  ["BoolValue", "bool"],
  ["Int32Value", "int32"],
  ["UInt32Value", "uint32"],
  ["Int64Value", "int64"],
]);

function readKind(type: string): Kind {
  if (type.startsWith("@")) return { is: "message", name: type.slice(1) };
  if (type.startsWith("#")) return { is: "enum", name: type.slice(1) };
  if (type === "Duration") return { is: "duration" };
  if (type === "Struct") return { is: "struct" };
  const wrapped = WRAPPERS.get(type);
  if (wrapped !== undefined) return { is: "wrapper", type: wrapped, name: type };
  const scalar = SCALARS.find((each) => each === type);
  if (scalar === undefined) throw new Error(`The mesh schema has a field of the unknown kind ${type}`);
  return { is: "scalar", type: scalar };
}

/** The JSON name that protoc derives: underscores are dropped, and a letter after an underscore becomes upper-case. */
export function jsonName(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * The Go name that protoc-gen-go derives: the first letter and letters after a digit or `_` become upper-case; `_` stays
 * unless a lower-case letter follows.
 */
export function goName(name: string): string {
  const words = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return words.replace(/^[a-z]|(?<=\d)[a-z]/g, (letter) => letter.toUpperCase());
}
