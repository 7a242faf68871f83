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

const BATCH = { begin: 0x10, end: 0x11, generation: 1 } as const;
/** The header of a batch: the subsystem nf_tables in network byte order. */
const BATCH_HEADER = Uint8Array.of(0, 0, 0, 10);

export type Change = Omit<Request, "protocol">;

/** The kernel refused a change of a batch, and with it the whole batch. */
export class RefusedChange extends SystemError {
  /** `index`: the place of the change in the batch; negative if the kernel refused the batch itself. */
  constructor(readonly index: number, errno: number) {
    super("nf_tables", errno);
  }
}

/**
 * Sends changes of nftables as one transaction. With a `generation` the kernel answers ERESTART if the rules have changed
 * since then (NFNL_BATCH_GENID). Throws a `RefusedChange`.
 */
export function sendBatch(system: SystemCalls, changes: readonly Change[], generation?: number): void {
  const answer = system.netlink(NETLINK_NETFILTER, batchBytes(changes, generation));
  const view = new DataView(answer.buffer, answer.byteOffset, answer.byteLength);
  const error = answer.length >= HEADER + 4 ? view.getInt32(HEADER, true) : 0;
  // The answer holds the header of the refused message, with its sequence number.
  const at = answer.length >= 2 * HEADER + 4 ? view.getUint32(HEADER + 4 + 8, true) : 0;
  if (error < 0) throw new RefusedChange(at - 1, -error);
}

/** The bytes of a transaction; the kernel acknowledges it if it makes all changes. */
export function batchBytes(changes: readonly Change[], generation?: number): Uint8Array {
  const frame = { flags: 0, header: BATCH_HEADER };
  const attributes: Attribute[] = generation === undefined ? [] : [[BATCH.generation, u32BigEndian(generation)]];
  const messages: readonly Change[] = [
    { ...frame, type: BATCH.begin, attributes },
    // Only the last change is acknowledged: the kernel reports errors of all.
    ...changes.map((change, at) => ({ ...change, flags: change.flags | (at === changes.length - 1 ? FLAGS.ack : 0) })),
    { ...frame, type: BATCH.end },
  ];
  return joinBytes(messages.map((message, at) => encode({ ...message, protocol: NETLINK_NETFILTER }, at)));
}

/** The bytes of a request. */
export function encode({ type, flags, header, attributes = [] }: Request, sequence = 1): Uint8Array {
  const bytes = joinBytes([new Uint8Array(HEADER), header, ...attributes.map(attributeBytes)]);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length, true);
  view.setUint16(4, type, true);
  view.setUint16(6, flags | FLAGS.request, true);
  view.setUint32(8, sequence, true);
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
  return { type, header, attributes: attributesOf(bytes.subarray(HEADER + aligned(headerSize))) };
}

/** The attributes in bytes; of equal ones the last. */
export function attributesOf(bytes: Uint8Array | undefined): ReadonlyMap<number, Uint8Array> {
  return new Map(attributeList(bytes));
}

/** NLA_F_NESTED and NLA_F_NET_BYTEORDER are left out of the types. */
const TYPE_MASK = 0x3fff;

/** The attributes in bytes, in order. */
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

/** An attribute that holds attributes (NLA_F_NESTED). */
export function nested(type: number, attributes: readonly Attribute[]): Attribute {
  return [NESTED | type, joinBytes(attributes.map(attributeBytes))];
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

/** A 32-bit number in network byte order, as in nftables. */
export function u32BigEndian(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

/** A NUL-terminated text. */
export function textBytes(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`);
}

/** The text of a NUL-terminated attribute; `""` if the attribute is absent. */
export function textOf(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes).replace(/\0[^]*$/, "");
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
