/**
 * Protobuf messages of Envoy's aggregated discovery service (ADS), in both variants: state of the world and
 * incremental. Only fields in use are read and written.
 */
import { BinaryWriter, putInteger, putMessage, putString, readMessage, writeStruct } from "../../../base/protobuf.ts";
import { NAME_TABLE } from "./name_table.ts";
import type { TableNode } from "../options.ts";

const SERVICE = "/envoy.service.discovery.v3.AggregatedDiscoveryService";

/** The first request of a stream, an ACK or a NACK. */
export interface TableRequest {
  readonly node?: TableNode;
  /** The version of the current table, for state of the world only. */
  readonly version?: string;
  readonly nonce?: string;
  /** Reason for rejecting the response (NACK). */
  readonly problem?: string | undefined;
}

export interface TableResource {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface TableResponse {
  readonly type: string;
  readonly version: string;
  readonly nonce: string;
  readonly resources: readonly TableResource[];
  readonly removed: readonly string[];
}

export interface Protocol {
  readonly method: string;
  encode(request: TableRequest): Uint8Array;
  /** Decodes a response. Throws on invalid bytes. */
  decode(bytes: Uint8Array): TableResponse;
}

/**
 * Returns the nonce of a response that is otherwise unreadable: field 5 in both variants. Returns `""` if the nonce is
 * unreadable too.
 */
export function nonceOf(bytes: Uint8Array): string {
  const read = { nonce: "" };
  try {
    readMessage(bytes, { 5: (reader) => read.nonce = reader.string() });
  } catch {
    // The bytes are not a protobuf message.
  }
  return read.nonce;
}

interface Numbers {
  readonly version: number;
  readonly node: number;
  readonly type: number;
  readonly nonce: number;
  readonly problem: number;
}

/** Field numbers of the requests; 0 if a variant does not have the field. */
const STATE: Numbers = { version: 1, node: 2, type: 4, nonce: 5, problem: 6 };
const DELTA: Numbers = { version: 0, node: 1, type: 2, nonce: 6, problem: 7 };
const INVALID_ARGUMENT = 3;

/** In this variant, each response contains the full state. */
export const STATE_OF_THE_WORLD: Protocol = {
  method: `${SERVICE}/StreamAggregatedResources`,
  encode: (request) => encodeRequest(request, STATE),
  decode(bytes) {
    const read = { type: "", version: "", nonce: "", resources: Array<TableResource>(), removed: [] };
    readMessage(bytes, {
      1: (reader) => read.version = reader.string(),
      2: (reader) => read.resources.push({ name: "", bytes: decodeAny(reader.bytes()) }),
      4: (reader) => read.type = reader.string(),
      5: (reader) => read.nonce = reader.string(),
    });
    return read;
  },
};

/** In this variant, a response contains only changes. */
export const INCREMENTAL: Protocol = {
  method: `${SERVICE}/DeltaAggregatedResources`,
  encode: (request) => encodeRequest(request, DELTA),
  decode(bytes) {
    const read = { type: "", version: "", nonce: "", resources: Array<TableResource>(), removed: Array<string>() };
    readMessage(bytes, {
      1: (reader) => read.version = reader.string(),
      2: (reader) => read.resources.push(decodeResource(reader.bytes())),
      4: (reader) => read.type = reader.string(),
      5: (reader) => read.nonce = reader.string(),
      6: (reader) => read.removed.push(reader.string()),
    });
    return read;
  },
};

function decodeResource(bytes: Uint8Array): TableResource {
  const read = { name: "", bytes: new Uint8Array(0) };
  readMessage(bytes, {
    2: (reader) => read.bytes = decodeAny(reader.bytes()),
    3: (reader) => read.name = reader.string(),
  });
  return read;
}

/** Returns a copy, so that the response can be freed. */
function decodeAny(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const read = { type: "", value: new Uint8Array(0) };
  readMessage(bytes, {
    1: (reader) => read.type = reader.string(),
    2: (reader) => read.value = reader.bytes().slice(),
  });
  if (read.type !== NAME_TABLE) throw new Error(`a resource has the type "${read.type}"`);
  return read.value;
}

function encodeRequest({ node, version = "", nonce = "", problem }: TableRequest, fields: Numbers): Uint8Array {
  const writer = new BinaryWriter();
  if (fields.version > 0) putString(writer, fields.version, version);
  if (node !== undefined) putMessage(writer, fields.node, (inner) => writeNode(inner, node));
  putString(writer, fields.type, NAME_TABLE);
  putString(writer, fields.nonce, nonce);
  if (problem !== undefined) putMessage(writer, fields.problem, (inner) => writeProblem(inner, problem));
  return writer.finish();
}

function writeProblem(writer: BinaryWriter, message: string): void {
  putInteger(writer, 1, INVALID_ARGUMENT);
  putString(writer, 2, message);
}

function writeNode(writer: BinaryWriter, { id, cluster, metadata, locality }: TableNode): void {
  putString(writer, 1, id);
  putString(writer, 2, cluster);
  putMessage(writer, 3, (inner) => writeStruct(inner, metadata));
  putMessage(writer, 4, (inner) => {
    [locality.region, locality.zone, locality.subZone].forEach((text, index) => putString(inner, index + 1, text));
  });
}
