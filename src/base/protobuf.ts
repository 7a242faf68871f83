/** Reads and writes single fields of protobuf messages, by field number. */
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { isList, isMap, newMap, type Value, type ValueMap } from "./value.ts";

export { BinaryWriter };

/** Functions that read a field, by field number. */
export type FieldReaders = Readonly<Record<number, (reader: BinaryReader) => void>>;

/**
 * Reads fields by number: `fields` reads strings, bytes and messages; `varints` reads integers, enums and booleans;
 * `doubles` reads doubles. Skips all other fields. Throws an Error if the bytes are not a message.
 */
export function readMessage(
  bytes: Uint8Array,
  fields: FieldReaders,
  varints: FieldReaders = {},
  doubles: FieldReaders = {},
): void {
  const readers = new Map([
    [WireType.LengthDelimited, fields],
    [WireType.Varint, varints],
    [WireType.Bit64, doubles],
  ]);
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    const read = readers.get(type)?.[field];
    if (read === undefined) reader.skip(type, field);
    else read(reader);
  }
  if (reader.pos > reader.len) throw new RangeError("the message is cut off");
}

/** Writes a string field, unless it is empty. */
export function putString(writer: BinaryWriter, field: number, text: string): void {
  if (text !== "") writer.tag(field, WireType.LengthDelimited).string(text);
}

/** Writes an integer or an enum, unless it is 0. */
export function putInteger(writer: BinaryWriter, field: number, value: number): void {
  if (value !== 0) writer.tag(field, WireType.Varint).int64(value);
}

/** Writes a field that is a message. */
export function putMessage(writer: BinaryWriter, field: number, write: (inner: BinaryWriter) => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write(writer);
  writer.join();
}

/** Writes the fields of a google.protobuf.Struct. */
export function writeStruct(writer: BinaryWriter, map: ValueMap): void {
  for (const [key, value] of Object.entries(map)) {
    putMessage(writer, 1, (entry) => {
      putString(entry, 1, key);
      putMessage(entry, 2, (inner) => writeValue(inner, value));
    });
  }
}

/** Writes a google.protobuf.Value. The field numbers are, in order: null, number, string, boolean, map, list. */
function writeValue(writer: BinaryWriter, value: Value): void {
  if (value === null) writer.tag(1, WireType.Varint).int32(0);
  else if (typeof value === "string") writer.tag(3, WireType.LengthDelimited).string(value);
  else if (typeof value === "boolean") writer.tag(4, WireType.Varint).bool(value);
  else if (isMap(value)) putMessage(writer, 5, (inner) => writeStruct(inner, value));
  else if (isList(value)) putMessage(writer, 6, (inner) => writeList(inner, value));
  else writer.tag(2, WireType.Bit64).double(Number(value));
}

function writeList(writer: BinaryWriter, values: readonly Value[]): void {
  for (const value of values) putMessage(writer, 1, (inner) => writeValue(inner, value));
}

/** Reads a google.protobuf.Struct. Throws an Error if the bytes are not a Struct. */
export function readStruct(bytes: Uint8Array): ValueMap {
  const map = newMap();
  readMessage(bytes, {
    1: (entry) => {
      let [key, value]: [string, Value] = ["", null];
      readMessage(entry.bytes(), {
        1: (reader) => key = reader.string(),
        2: (reader) => value = readValue(reader.bytes()),
      });
      map[key] = value;
    },
  });
  return map;
}

function readValue(bytes: Uint8Array): Value {
  let value: Value = null;
  readMessage(
    bytes,
    {
      3: (reader) => value = reader.string(),
      5: (reader) => value = readStruct(reader.bytes()),
      6: (reader) => value = readList(reader.bytes()),
    },
    { 4: (reader) => value = reader.bool() },
    { 2: (reader) => value = reader.double() },
  );
  return value;
}

function readList(bytes: Uint8Array): Value[] {
  const values: Value[] = [];
  readMessage(bytes, { 1: (reader) => void values.push(readValue(reader.bytes())) });
  return values;
}
