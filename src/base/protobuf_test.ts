import assert from "node:assert/strict";
import { BinaryWriter, putInteger, putMessage, putString, readMessage, readStruct, writeStruct } from "./protobuf.ts";

function written(write: (writer: BinaryWriter) => void): Uint8Array {
  const writer = new BinaryWriter();
  write(writer);
  return writer.finish();
}

Deno.test("readMessage() gives the fields that are asked for, and skips fields of other numbers and types", () => {
  // Fields: 1 "a", 2 varint 5, 3 64 bits, 4 32 bits, 1 "b", 2 "c".
  const bytes = [0x0a, 1, 97, 0x10, 5, 0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x25, 1, 2, 3, 4, 0x0a, 1, 98, 0x12, 1, 99];
  const [strings, numbers]: [string[], number[]] = [[], []];
  const read = { 1: (reader: { string(): string }) => void strings.push(reader.string()) };
  readMessage(Uint8Array.from(bytes), read, { 2: (reader) => numbers.push(reader.int32()) });
  assert.deepEqual([strings, numbers], [["a", "b"], [5]]);
});

for (const bytes of [[0x0a, 2, 97], [0x10], [0x10, 0x80], [0x0b], [0x19, 1, 2], [0]]) {
  Deno.test(`readMessage() refuses ${JSON.stringify(bytes)}`, () => {
    assert.throws(() => readMessage(Uint8Array.from(bytes), { 1: (reader) => reader.string() }));
  });
}

Deno.test("putString(), putInteger() and putMessage() leave out what is empty, but not a message", () => {
  const bytes = written((writer) => {
    putString(writer, 1, "");
    putInteger(writer, 2, 0);
    putMessage(writer, 3, () => {});
    putInteger(writer, 4, 300);
  });
  assert.deepEqual([...bytes], [0x1a, 0, 0x20, 0xac, 0x02]);
});

Deno.test("writeStruct() writes each kind of value in its field of google.protobuf.Value", () => {
  const kinds = { null: null, number: 1.5, string: "", bool: false, map: {}, list: [true] };
  const fields: Record<string, number | undefined> = {};
  readMessage(written((writer) => writeStruct(writer, kinds)), {
    1(reader) {
      let key = "";
      readMessage(reader.bytes(), {
        1: (entry) => key = entry.string(),
        2: (entry) => fields[key] = (entry.bytes()[0] ?? 0) >> 3,
      });
    },
  });
  assert.deepEqual(fields, { null: 1, number: 2, string: 3, bool: 4, map: 5, list: 6 });
});

Deno.test("readStruct() reads what writeStruct() writes", () => {
  const kinds = { null: null, number: 1.5, string: "", bool: false, map: { a: { b: "c" } }, list: [true, [], {}] };
  assert.equal(JSON.stringify(readStruct(written((writer) => writeStruct(writer, kinds)))), JSON.stringify(kinds));
  assert.throws(() => readStruct(Uint8Array.from([0x0a, 9, 1])));
});
