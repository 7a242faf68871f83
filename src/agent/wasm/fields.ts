/** Changes single fields of a protobuf message; the other fields keep their bytes. */
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { BinaryWriter } from "../../base/protobuf.ts";

interface Field {
  readonly number: number;
  /** The bytes of tag and content. */
  readonly raw: Uint8Array;
  /** The content of a string, bytes or message field; otherwise `undefined`. */
  readonly content: Uint8Array | undefined;
}

function fieldsOf(bytes: Uint8Array): Field[] {
  const fields: Field[] = [];
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [number, type] = reader.tag();
    let content: Uint8Array | undefined;
    if (type === WireType.LengthDelimited) content = reader.bytes();
    else reader.skip(type, number);
    if (reader.pos > reader.len) throw new RangeError("the message is cut off");
    fields.push({ number, raw: bytes.subarray(start, reader.pos), content });
  }
  return fields;
}

/** Replaces each occurrence of a field, all in parallel; `undefined` removes an occurrence. */
export async function changed(
  bytes: Uint8Array,
  number: number,
  change: (content: Uint8Array) => Uint8Array | undefined | Promise<Uint8Array | undefined>,
): Promise<Uint8Array> {
  const parts = fieldsOf(bytes).map(async (field) => {
    if (field.number !== number || field.content === undefined) return field.raw;
    const next = await change(field.content);
    return next && new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(next).finish();
  });
  const writer = new BinaryWriter();
  for (const part of await Promise.all(parts)) if (part !== undefined) writer.raw(part);
  return writer.finish();
}
