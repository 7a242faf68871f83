/**
 * Protobuf messages of Envoy's aggregated discovery service (ADS), where each response contains the full state. Only
 * fields in use are read and written.
 */
import { BinaryWriter, putInteger, putMessage, putString, readMessage, writeStruct } from "../../../base/protobuf.ts";
import { NAME_TABLE } from "./name_table.ts";
import type { TableNode } from "../options.ts";

export const METHOD = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";

/** The first request of a stream, an ACK or a NACK. */
export interface TableRequest {
  readonly node?: TableNode;
  /** The version of the current table. */
  readonly version?: string;
  readonly nonce?: string;
  /** Reason for rejecting the response (NACK). */
  readonly problem?: string | undefined;
}

export interface TableResponse {
  readonly type: string;
  readonly version: string;
  readonly nonce: string;
  /** Encoded `google.protobuf.Any` messages. */
  readonly resources: readonly Uint8Array[];
}

/** Decodes a response, except for its resources. Throws on invalid bytes. */
export function decodeResponse(bytes: Uint8Array): TableResponse {
  const read = { type: "", version: "", nonce: "", resources: Array<Uint8Array>() };
  readMessage(bytes, {
    1: (reader) => read.version = reader.string(),
    2: (reader) => read.resources.push(reader.bytes()),
    4: (reader) => read.type = reader.string(),
    5: (reader) => read.nonce = reader.string(),
  });
  return read;
}

/** Returns the encoded table of a resource. Throws on invalid bytes and for another type. */
export function tableIn(resource: Uint8Array): Uint8Array {
  let [type, table]: [string, Uint8Array] = ["", new Uint8Array()];
  readMessage(resource, { 1: (reader) => type = reader.string(), 2: (reader) => table = reader.bytes() });
  if (type !== NAME_TABLE) throw new Error(`a resource has the type "${type}"`);
  return table;
}

const INVALID_ARGUMENT = 3;

export function encodeRequest({ node, version = "", nonce = "", problem }: TableRequest): Uint8Array {
  const writer = new BinaryWriter();
  putString(writer, 1, version);
  if (node !== undefined) putMessage(writer, 2, (inner) => writeNode(inner, node));
  putString(writer, 4, NAME_TABLE);
  putString(writer, 5, nonce);
  if (problem === undefined) return writer.finish();
  putMessage(writer, 6, (inner) => {
    putInteger(inner, 1, INVALID_ARGUMENT);
    putString(inner, 2, problem);
  });
  return writer.finish();
}

function writeNode(writer: BinaryWriter, { id, cluster, metadata, locality }: TableNode): void {
  putString(writer, 1, id);
  putString(writer, 2, cluster);
  putMessage(writer, 3, (inner) => writeStruct(inner, metadata));
  putMessage(writer, 4, (inner) => {
    [locality.region, locality.zone, locality.subZone].forEach((text, index) => putString(inner, index + 1, text));
  });
}
