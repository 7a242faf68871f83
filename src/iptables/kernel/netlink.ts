/** Netlink messages (netlink(7)), little-endian like all supported machines. */
import { joinBytes } from "../../base/bytes.ts";
import { type SystemCalls, SystemError } from "../../platform/mod.ts";
import type { Family } from "../plan/rule.ts";

const NETLINK_ROUTE = 0;
export const NETLINK_NETFILTER = 12;

export const FLAGS = { request: 1, ack: 4, dump: 0x300, exclusive: 0x200, create: 0x400 } as const;
/** Flags to create an object; the kernel answers EEXIST if it exists. */
export const CREATE = FLAGS.ack | FLAGS.create | FLAGS.exclusive;
/** AF_INET and AF_INET6. */
export const FAMILY_NUMBERS: Readonly<Record<Family, number>> = { 4: 2, 6: 10 };

export type Attribute = readonly [type: number, value: Uint8Array];

export interface Message {
  readonly type: number;
  readonly header: DataView;
  readonly attributes: ReadonlyMap<number, Uint8Array>;
}

const HEADER = 16;
const TYPE_ERROR = 2;
const TYPE_DONE = 3;

export interface Request {
  readonly protocol: number;
  readonly type: number;
  readonly flags: number;
  readonly header: Uint8Array;
  readonly attributes?: readonly Attribute[];
}

/** Sends a request and returns the answers. Throws a `SystemError` if the kernel refuses it. */
export function ask(system: SystemCalls, request: Request): Message[] {
  const answer = system.netlink(request.protocol, encode(request));
  return decode(answer, request.header.length, request.type);
}

/** Sends a request of rtnetlink(7). Throws a `SystemError` if the kernel refuses it. */
export function askRoute(system: SystemCalls, request: Omit<Request, "protocol">): Message[] {
  return ask(system, { ...request, protocol: NETLINK_ROUTE });
}

const BATCH = { begin: 0x10, end: 0x11 } as const;
/** The header of a batch: the subsystem nf_tables in network byte order. */
const BATCH_HEADER = Uint8Array.of(0, 0, 0, 10);

/** Sends changes of nftables as one transaction. Throws a `SystemError` if the kernel refuses it. */
export function sendBatch(system: SystemCalls, changes: readonly Omit<Request, "protocol">[]): void {
  const parts = [
    encode({ protocol: NETLINK_NETFILTER, type: BATCH.begin, flags: 0, header: BATCH_HEADER }),
    ...changes.map((change, at) => {
      const flags = change.flags | (at === changes.length - 1 ? FLAGS.ack : 0);
      return encode({ ...change, protocol: NETLINK_NETFILTER, flags });
    }),
    encode({ protocol: NETLINK_NETFILTER, type: BATCH.end, flags: 0, header: BATCH_HEADER }),
  ];
  const answer = system.netlink(NETLINK_NETFILTER, joinBytes(parts));
  decode(answer, BATCH_HEADER.length, changes[0]?.type ?? BATCH.begin);
}

/** The bytes of a request. */
export function encode({ type, flags, header, attributes = [] }: Request): Uint8Array {
  const bytes = joinBytes([new Uint8Array(HEADER), header, ...attributes.map(attributeBytes)]);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length, true);
  view.setUint16(4, type, true);
  view.setUint16(6, flags | FLAGS.request, true);
  view.setUint32(8, 1, true);
  return bytes;
}

/** An attribute, padded to 32-bit words. */
export function attributeBytes([type, value]: Attribute): Uint8Array {
  const bytes = new Uint8Array(aligned(4 + value.length));
  const view = new DataView(bytes.buffer);
  view.setUint16(0, 4 + value.length, true);
  view.setUint16(2, type, true);
  bytes.set(value, 4);
  return bytes;
}

/** The messages of an answer. `headerSize`: the size of the protocol's header in each. */
export function decode(bytes: Uint8Array, headerSize: number, request: number): Message[] {
  const messages: Message[] = [];
  for (let at = 0; at + HEADER <= bytes.length;) {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at);
    const size = view.getUint32(0, true);
    const type = view.getUint16(4, true);
    if (type === TYPE_ERROR || type === TYPE_DONE) refuse(view, request);
    else messages.push(decodeMessage(bytes.subarray(at, at + size), type, headerSize));
    at += Math.max(HEADER, aligned(size));
  }
  return messages;
}

/** Throws for an error message: its number is negative; 0 is the acknowledgement. */
function refuse(view: DataView, request: number): void {
  const error = view.byteLength >= HEADER + 4 ? view.getInt32(HEADER, true) : 0;
  if (error < 0) throw new SystemError(`netlink message ${request}`, -error);
}

function decodeMessage(bytes: Uint8Array, type: number, headerSize: number): Message {
  const header = new DataView(bytes.buffer, bytes.byteOffset + HEADER, Math.min(headerSize, bytes.length - HEADER));
  const attributes = new Map<number, Uint8Array>();
  for (let at = HEADER + aligned(headerSize); at + 4 <= bytes.length;) {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at);
    const size = view.getUint16(0, true);
    if (size < 4) break;
    attributes.set(view.getUint16(2, true) & 0x3fff, bytes.subarray(at + 4, at + size));
    at += aligned(size);
  }
  return { type, header, attributes };
}

function aligned(size: number): number {
  return (size + 3) & ~3;
}

/** A 32-bit number in host byte order. */
export function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

/** A 32-bit number in host byte order; `fallback` if the attribute is absent. */
export function numberOf(value: Uint8Array | undefined, fallback: number): number {
  return value === undefined || value.length < 4
    ? fallback
    : new DataView(value.buffer, value.byteOffset).getUint32(0, true);
}

/** A 32-bit number in network byte order, as in nftables; `fallback` if the attribute is absent. */
export function numberOfBigEndian(value: Uint8Array | undefined, fallback: number): number {
  return value === undefined || value.length < 4 ? fallback : new DataView(value.buffer, value.byteOffset).getUint32(0);
}
