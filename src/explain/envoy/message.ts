/**
 * Reads Envoy's messages in the JSON of its admin interface. This is proto3 JSON with the field names of the .proto
 * files: durations and 64-bit numbers are strings, and `@type` names the type of an Any.
 */
import { readDuration } from "../../golang/duration.ts";
import { type Cidr, parseCidr } from "../../golang/net/mod.ts";
import { hostAndPort } from "../address.ts";
import { isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";

export interface AnyMessage {
  /** The last part of the type, such as `TcpProxy` for `type.googleapis.com/envoy.extensions...v3.TcpProxy`. */
  readonly type: string;
  readonly value: ValueMap;
}

/** Returns the message under a key, with an empty type if the key is absent. */
export function anyAt(map: ValueMap, key: string): AnyMessage {
  return anyOf(mapAt(map, key));
}

/** Returns a message with its type. Unwraps a TypedStruct (xds/type/v3/typed_struct.proto). */
export function anyOf(value: ValueMap): AnyMessage {
  const type = lastName(textAt(value, "@type"));
  const inner = mapAt(value, "value");
  return type === "TypedStruct" ? { type: lastName(textAt(value, "type_url")), value: inner } : { type, value };
}

function lastName(url: string): string {
  return url.slice(Math.max(url.lastIndexOf("."), url.lastIndexOf("/")) + 1);
}

/** Returns the boolean under a key; `false` for any other value. */
export function flagAt(map: ValueMap, key: string): boolean {
  return map[key] === true;
}

/** Returns the number under a key. A 64-bit number can be a string. `undefined` for any other value. */
export function numberAt(map: ValueMap, key: string): number | undefined {
  const value = map[key];
  if (typeof value === "number") return value;
  return typeof value === "string" && /^-?\d{1,19}(\.\d+)?$/.test(value) ? Number(value) : undefined;
}

/** Returns the duration under a key, such as `1.500s`, in milliseconds; `undefined` for any other value. */
export function millisecondsAt(map: ValueMap, key: string): number | undefined {
  const nanoseconds = readDuration(textAt(map, key));
  return typeof nanoseconds === "bigint" ? Number(nanoseconds) / 1e6 : undefined;
}

/** Whether the value of a key is a message, which can be empty. */
export function hasMessage(map: ValueMap, key: string): boolean {
  return isMap(map[key]);
}

/** Reads the message under a key; `undefined` if the key has no message. */
export function readAt<T>(map: ValueMap, key: string, read: (message: ValueMap) => T): T | undefined {
  const message = map[key];
  return isMap(message) ? read(message) : undefined;
}

/** The address of a socket, the path of a pipe (Unix domain socket), or the destination behind an internal listener. */
export interface SocketAddress {
  readonly address: string;
  /** Port number; 0 for a pipe. */
  readonly port: number;
  /** Name of the internal listener of this Envoy that accepts the connection. */
  readonly internal?: string;
}

/** Returns the `Address` under a key; `undefined` if absent or of an unknown kind. */
export function addressAt(map: ValueMap, key: string): SocketAddress | undefined {
  const address = mapAt(map, key);
  const socket = mapAt(address, "socket_address");
  if (textAt(socket, "address") !== "") {
    return { address: textAt(socket, "address"), port: numberAt(socket, "port_value") ?? 0 };
  }
  const pipe = textAt(mapAt(address, "pipe"), "path");
  if (pipe !== "") return { address: pipe, port: 0 };
  const internal = mapAt(address, "envoy_internal_address");
  const name = textAt(internal, "server_listener_name");
  return name === "" ? undefined : internalAddress(name, textAt(internal, "endpoint_id"));
}

/** Returns the address of an internal listener. Istio's endpoint ID contains the destination behind the listener. */
function internalAddress(internal: string, id: string): SocketAddress {
  const { host, port } = hostAndPort(id) ?? { host: `envoy://${internal}/${id}`, port: 0 };
  return { address: host, port, internal };
}

const DENOMINATORS: Readonly<Record<string, number>> = { HUNDRED: 100, TEN_THOUSAND: 10_000, MILLION: 1_000_000 };

/** Returns a `FractionalPercent` as a number from 0 to 1. */
export function readFraction(percent: ValueMap): number {
  const share = (numberAt(percent, "numerator") ?? 0) / (DENOMINATORS[textAt(percent, "denominator")] ?? 100);
  return Math.min(Math.max(share, 0), 1);
}

/** Returns the valid `CidrRange`s under a key. An absent prefix length is 0, because proto3 omits zeros. */
export function cidrsAt(map: ValueMap, key: string): Cidr[] {
  return mapsAt(map, key).map(readCidr).filter((cidr) => typeof cidr !== "string");
}

/** Reads a `CidrRange`. Returns a message if it is invalid. */
export function readCidr(range: ValueMap): Cidr | string {
  return parseCidr(`${textAt(range, "address_prefix")}/${numberAt(range, "prefix_len") ?? 0}`);
}
