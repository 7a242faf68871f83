import { isList, isMap, newMap, type Value, type ValueMap } from "../../value.ts";
import { decodeScalar, decodeSingle, Wrong, zeroOf } from "./decode_single.ts";
import type { Era } from "../era.ts";
import { type Field, type Kind, type Message, messageType } from "../schema/schema.ts";

/** Where a value stands: the path by JSON names (`defaultConfig.drainDuration`), and the keys as they are written. */
export interface Spot {
  readonly field: string;
  readonly written: readonly (string | number)[];
}

/** What is wrong with the value of a field: `text` goes on behind the field's path, such as `must be a string`. */
export interface FieldProblem extends Partial<Spot> {
  readonly field: string;
  readonly text: string;
}

/** How to read: which fields there are, and where problems go. */
export interface Decoding {
  readonly era: Era;
  readonly problems: FieldProblem[];
}

const ROOT: Spot = { field: "", written: [] };

/**
 * A message as people write it (proto names or JSON names, enums by name or number, durations as text, 64-bit integers
 * as number or text) in one spelling: JSON names, enums by name, durations in seconds. Fields that are null are left out,
 * fields that the message does not have are kept as they are. Problems are added to `decoding`, the fields left out.
 * Source: the proto3 JSON mapping, read as leniently as Istio's reader (golang/protobuf jsonpb) reads it.
 */
export function decodeMessage(source: ValueMap, name: string, decoding: Decoding, spot = ROOT): ValueMap {
  const message = messageType(name, decoding.era);
  const result = newMap();
  for (const [key, value] of Object.entries(source)) {
    if (!message.byKey.has(key)) result[key] = value;
  }
  for (const field of message.fields) {
    // The JSON name wins where a field is written in both spellings.
    const key = source[field.json] === undefined ? field.name : field.json;
    const value = source[key] ?? null;
    if (value === null) continue;
    const decoded = decodeField(value, field, decoding, under(spot, key, field.json));
    if (decoded === undefined) continue;
    clearOneof(result, message, field);
    result[field.json] = decoded;
  }
  return result;
}

function under(spot: Spot, key: string | number, name: string): Spot {
  return { field: spot.field === "" ? name : `${spot.field}.${name}`, written: [...spot.written, key] };
}

/** Setting one field of a oneof takes the others away. */
export function clearOneof(data: ValueMap, message: Message, set: Field): void {
  if (set.oneof === undefined) return;
  for (const field of message.fields) {
    if (field.oneof === set.oneof) delete data[field.json];
  }
}

function decodeField(value: Value, field: Field, decoding: Decoding, spot: Spot): Value | undefined {
  if (field.shape === "one") return decodeOne(value, field.kind, decoding, spot);
  if (field.shape === "list") return decodeList(value, field.kind, decoding, spot);
  if (!isMap(value)) return refuse(decoding, spot, new Wrong("a mapping", value));
  const result = newMap();
  for (const [key, item] of Object.entries(value)) {
    const decoded = decodeItem(item, field.kind, decoding, under(spot, key, key));
    if (decoded !== undefined) result[key] = decoded;
  }
  return result;
}

function decodeList(value: Value, kind: Kind, decoding: Decoding, spot: Spot): Value | undefined {
  if (!isList(value)) return refuse(decoding, spot, new Wrong("a list", value));
  const items = value.map((item, index) =>
    decodeItem(item, kind, decoding, { field: `${spot.field}[${index}]`, written: [...spot.written, index] })
  );
  return items.filter((item) => item !== undefined);
}

/** An element of a list or map: null is its zero value. */
function decodeItem(value: Value, kind: Kind, decoding: Decoding, spot: Spot): Value | undefined {
  return value === null ? zeroOf(kind) : decodeOne(value, kind, decoding, spot);
}

function decodeOne(value: Value, kind: Kind, decoding: Decoding, spot: Spot): Value | undefined {
  if (kind.is === "message") {
    if (isMap(value)) return decodeMessage(value, kind.name, decoding, spot);
    return refuse(decoding, spot, new Wrong("a mapping", value));
  }
  const isScalar = kind.is === "scalar" || kind.is === "wrapper";
  const decoded = isScalar ? decodeScalar(value, kind.type) : decodeSingle(value, kind);
  return decoded instanceof Wrong ? refuse(decoding, spot, decoded) : decoded;
}

function refuse(decoding: Decoding, spot: Spot, wrong: Wrong): undefined {
  decoding.problems.push({ ...spot, text: wrong.message });
  return undefined;
}
