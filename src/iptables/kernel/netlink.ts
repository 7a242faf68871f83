/** Encodes and decodes netlink messages (netlink(7)) in little-endian, the byte order of all supported platforms. */
import { joinBytes } from "../../base/bytes.ts";
import { type SystemCalls, SystemError } from "../../platform/mod.ts";
import type { Family } from "../plan/rule.ts";

const NETLINK_ROUTE = 0;
export const NETLINK_NETFILTER = 12;

export const FLAGS = { request: 1, ack: 4, dump: 0x300, exclusive: 0x200, create: 0x400 } as const;
/** Flags to create an object. The kernel returns EEXIST if the object exists. */
export const CREATE = FLAGS.ack | FLAGS.create | FLAGS.exclusive;
/** Numbers of the address families (AF_INET, AF_INET6). */
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

/** Sends a request and returns the answers. Throws a `SystemError` if the kernel refuses the request. */
export function ask(system: SystemCalls, request: Request): Message[] {
  const answer = system.netlink(request.protocol, encode(request));
  return decode(answer, request.header.length, request.type);
}

/** Sends a request of rtnetlink(7). Throws a `SystemError` if the kernel refuses the request. */
export function askRoute(system: SystemCalls, request: Omit<Request, "protocol">): Message[] {
  return ask(system, { ...request, protocol: NETLINK_ROUTE });
}

const BATCH = { begin: 0x10, end: 0x11, generation: 1 } as const;
/** The header of a batch, with the number of the subsystem nf_tables in network byte order. */
const BATCH_HEADER = Uint8Array.of(0, 0, 0, 10);

export type Change = Omit<Request, "protocol">;

/** Thrown if the kernel refused a change, and therefore the whole batch. */
export class RefusedChange extends SystemError {
  /** `index`: the position of the change in the batch; negative if the kernel refused the batch itself. */
  constructor(readonly index: number, errno: number) {
    super("nf_tables", errno);
  }
}

/**
 * Sends nf_tables changes as one transaction. With a `generation`, the kernel returns ERESTART if the rules have
 * changed since that generation (NFNL_BATCH_GENID). Throws a `RefusedChange`.
 */
export function sendBatch(system: SystemCalls, changes: readonly Change[], generation?: number): void {
  const answer = system.netlink(NETLINK_NETFILTER, batchBytes(changes, generation));
  const view = new DataView(answer.buffer, answer.byteOffset, answer.byteLength);
  const error = answer.length >= HEADER + 4 ? view.getInt32(HEADER, true) : 0;
  // The answer contains the header of the refused message, with its sequence number.
  const at = answer.length >= 2 * HEADER + 4 ? view.getUint32(HEADER + 4 + 8, true) : 0;
  if (error < 0) throw new RefusedChange(at - 1, -error);
}

/** Encodes a transaction. The kernel acknowledges it after applying all changes. */
export function batchBytes(changes: readonly Change[], generation?: number): Uint8Array {
  const frame = { flags: 0, header: BATCH_HEADER };
  const attributes: Attribute[] = generation === undefined ? [] : [[BATCH.generation, u32BigEndian(generation)]];
  const messages: readonly Change[] = [
    { ...frame, type: BATCH.begin, attributes },
    // Only the last change requests an acknowledgement; the kernel reports errors of every change.
    ...changes.map((change, at) => ({ ...change, flags: change.flags | (at === changes.length - 1 ? FLAGS.ack : 0) })),
    { ...frame, type: BATCH.end },
  ];
  return joinBytes(messages.map((message, at) => encode({ ...message, protocol: NETLINK_NETFILTER }, at)));
}

/** Encodes a request. */
export function encode({ type, flags, header, attributes = [] }: Request, sequence = 1): Uint8Array {
  const bytes = joinBytes([new Uint8Array(HEADER), header, ...attributes.map(attributeBytes)]);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length, true);
  view.setUint16(4, type, true);
  view.setUint16(6, flags | FLAGS.request, true);
  view.setUint32(8, sequence, true);
  return bytes;
}

/** Encodes an attribute, padded to 32-bit words. */
export function attributeBytes([type, value]: Attribute): Uint8Array {
  const bytes = new Uint8Array(aligned(4 + value.length));
  const view = new DataView(bytes.buffer);
  view.setUint16(0, 4 + value.length, true);
  view.setUint16(2, type, true);
  bytes.set(value, 4);
  return bytes;
}

/** Decodes the messages of an answer. `headerSize`: bytes of the protocol's header in each message. */
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

/** Throws a `SystemError` if the error number in an answer is negative. The number 0 is an acknowledgement. */
function refuse(view: DataView, request: number): void {
  const error = view.byteLength >= HEADER + 4 ? view.getInt32(HEADER, true) : 0;
  if (error < 0) throw new SystemError(`netlink message ${request}`, -error);
}

function decodeMessage(bytes: Uint8Array, type: number, headerSize: number): Message {
  const header = new DataView(bytes.buffer, bytes.byteOffset + HEADER, Math.min(headerSize, bytes.length - HEADER));
  return { type, header, attributes: attributesOf(bytes.subarray(HEADER + aligned(headerSize))) };
}

/** Decodes attributes by type. Of duplicates, the last one wins. */
export function attributesOf(bytes: Uint8Array | undefined): ReadonlyMap<number, Uint8Array> {
  return new Map(attributeList(bytes));
}

/** Removes the flags NLA_F_NESTED and NLA_F_NET_BYTEORDER from an attribute type. */
const TYPE_MASK = 0x3fff;

/** Decodes attributes in their order. */
export function attributeList(bytes: Uint8Array = new Uint8Array()): Attribute[] {
  const list: Attribute[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + 4 <= bytes.length;) {
    const size = view.getUint16(at, true);
    if (size < 4) break;
    list.push([view.getUint16(at + 2, true) & TYPE_MASK, bytes.subarray(at + 4, at + size)]);
    at += aligned(size);
  }
  return list;
}

const NESTED = 0x8000;

/** Returns an attribute that contains attributes (NLA_F_NESTED). */
export function nested(type: number, attributes: readonly Attribute[]): Attribute {
  return [NESTED | type, joinBytes(attributes.map(attributeBytes))];
}

function aligned(size: number): number {
  return (size + 3) & ~3;
}

/** Encodes a 32-bit number in host byte order. */
export function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

/** Encodes a 32-bit number in network byte order, which nf_tables uses. */
export function u32BigEndian(value: number): Uint8Array {
  return u32(value).reverse();
}

/** Encodes a NUL-terminated text. */
export function textBytes(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`);
}

/** Decodes a NUL-terminated text; `""` if the attribute is absent. */
export function textOf(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes).replace(/\0[^]*$/, "");
}

/** Decodes a 32-bit number in host byte order; returns `fallback` if the attribute is absent. */
export function numberOf(value: Uint8Array | undefined, fallback: number): number {
  return value === undefined || value.length < 4
    ? fallback
    : new DataView(value.buffer, value.byteOffset).getUint32(0, true);
}

/** Decodes a 32-bit number in network byte order, which nf_tables uses. */
export function numberOfBigEndian(value: Uint8Array | undefined, fallback: number): number {
  return numberOf(value?.subarray(0, 4).toReversed(), fallback);
}
