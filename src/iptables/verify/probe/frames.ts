/** Encodes and decodes Ethernet frames with one TCP segment (RFC 791, 8200, 9293). */
import { joinBytes } from "../../../base/bytes.ts";
import { addressBytes, addressIn } from "../../../golang/net/mod.ts";
import type { Endpoint } from "../../../platform/mod.ts";

export const TCP_FLAGS = { fin: 1, syn: 2, reset: 4, push: 8, ack: 16 } as const;

export interface Segment {
  readonly source: Endpoint;
  readonly destination: Endpoint;
  readonly flags: number;
  readonly sequence: number;
  readonly acknowledgement: number;
  readonly data?: Uint8Array;
}

const ETHERNET = 14;
const IPV4_HEADER = 20;
const IPV6_HEADER = 40;
const TCP_HEADER = 20;
const TYPE_IPV4 = 0x0800;
const TYPE_IPV6 = 0x86dd;
const PROTOCOL_TCP = 6;
const HOPS = 64;
const WINDOW = 64240;

/** Encodes a segment as a frame from one hardware address to another. */
export function frameOf(segment: Segment, from: Uint8Array, to: Uint8Array): Uint8Array {
  const isIpv4 = segment.source.address.family === 4;
  const tcp = tcpBytes(segment);
  const header = isIpv4 ? ipv4Header(segment, tcp.length) : ipv6Header(segment, tcp.length);
  const type = isIpv4 ? TYPE_IPV4 : TYPE_IPV6;
  return joinBytes([to, from, Uint8Array.of(type >> 8, type & 0xff), header, tcp]);
}

function tcpBytes({ source, destination, flags, sequence, acknowledgement, data = new Uint8Array() }: Segment) {
  const bytes = new Uint8Array(TCP_HEADER + data.length);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, source.port);
  view.setUint16(2, destination.port);
  view.setUint32(4, sequence);
  view.setUint32(8, acknowledgement);
  view.setUint16(12, TCP_HEADER / 4 << 12 | flags);
  view.setUint16(14, WINDOW);
  bytes.set(data, TCP_HEADER);
  const pseudo = joinBytes([
    addressPair(source, destination),
    Uint8Array.of(0, PROTOCOL_TCP, bytes.length >> 8, bytes.length & 0xff),
  ]);
  view.setUint16(16, checksum(joinBytes([pseudo, bytes])));
  return bytes;
}

function addressPair(source: Endpoint, destination: Endpoint): Uint8Array {
  return joinBytes([addressBytes(source.address), addressBytes(destination.address)]);
}

function ipv4Header({ source, destination }: Segment, length: number): Uint8Array {
  const bytes = new Uint8Array(IPV4_HEADER);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, 0x45);
  view.setUint16(2, IPV4_HEADER + length);
  view.setUint16(6, 0x4000);
  view.setUint8(8, HOPS);
  view.setUint8(9, PROTOCOL_TCP);
  bytes.set(addressPair(source, destination), 12);
  view.setUint16(10, checksum(bytes));
  return bytes;
}

function ipv6Header({ source, destination }: Segment, length: number): Uint8Array {
  const bytes = new Uint8Array(IPV6_HEADER);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, 0x60);
  view.setUint16(4, length);
  view.setUint8(6, PROTOCOL_TCP);
  view.setUint8(7, HOPS);
  bytes.set(addressPair(source, destination), 8);
  return bytes;
}

/** Computes the Internet checksum (RFC 1071). */
export function checksum(bytes: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += (bytes[at] ?? 0) << 8 | (bytes[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

/** Decodes the TCP segment of a frame, without data; returns `undefined` for other frames. */
export function segmentOf(frame: Uint8Array): Segment | undefined {
  if (frame.length < ETHERNET + IPV4_HEADER) return undefined;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const type = view.getUint16(12);
  const isIpv4 = type === TYPE_IPV4;
  if (!isIpv4 && type !== TYPE_IPV6) return undefined;
  const start = ETHERNET + (isIpv4 ? (view.getUint8(ETHERNET) & 0xf) * 4 : IPV6_HEADER);
  if (view.getUint8(ETHERNET + (isIpv4 ? 9 : 6)) !== PROTOCOL_TCP || frame.length < start + TCP_HEADER) {
    return undefined;
  }
  const addresses = ETHERNET + (isIpv4 ? 12 : 8);
  const size = isIpv4 ? 4 : 16;
  const endpoint = (at: number, port: number): Endpoint => ({
    address: addressIn(frame.subarray(at, at + size)),
    port: view.getUint16(port),
  });
  return {
    source: endpoint(addresses, start),
    destination: endpoint(addresses + size, start + 2),
    sequence: view.getUint32(start + 4),
    acknowledgement: view.getUint32(start + 8),
    flags: view.getUint8(start + 13),
  };
}
