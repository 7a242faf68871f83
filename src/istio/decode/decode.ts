import { isList, isMap, newMap, type Value, type ValueMap } from "../../base/value.ts";
import { decodeScalar, decodeSingle, Wrong, zeroOf } from "./decode_single.ts";
import type { Era } from "../era.ts";
import { type Field, type Kind, type Message, messageType } from "../schema/schema.ts";

/**
 * The position of a value: its path in JSON names (`defaultConfig.drainDuration`), and the keys as the user wrote them.
 */
interface Spot {
  readonly field: string;
  readonly written: readonly (string | number)[];
}

/** A field with an invalid value. `text` follows the field's path in messages: `must be a string`. */
export interface FieldProblem extends Partial<Spot> {
  readonly field: string;
  readonly text: string;
}

/** The era (range of Istio releases) whose fields are decoded, and the list to which problems are added. */
export interface Decoding {
  readonly era: Era;
  readonly problems: FieldProblem[];
}

const ROOT: Spot = { field: "", written: [] };

/**
 * Decodes a message. The source may have proto names or JSON names, enums by name or number, durations as text, and
 * 64-bit integers as numbers or text. The result has JSON names, enums by name, and durations in seconds. Null fields
 * are dropped, unknown fields are kept. Invalid fields are dropped and reported in `decoding`.
 * Source: the proto3 JSON mapping, as lenient as Istio's reader (golang/protobuf jsonpb).
 */
export function decodeMessage(source: ValueMap, name: string, decoding: Decoding, spot = ROOT): ValueMap {
  const message = messageType(name, decoding.era);
  const result = newMap();
  for (const [key, value] of Object.entries(source)) {
    if (!message.byKey.has(key)) result[key] = value;
  }
  for (const field of message.fields) {
    // The JSON name wins over the proto name.
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

/** Removes the other fields of a oneof before one is set. */
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

/** Decodes an element of a list or map. Null means the zero value. */
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
