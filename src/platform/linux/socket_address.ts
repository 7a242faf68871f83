/** Encodes and decodes the kernel's socket address structures (ip(7), ipv6(7), packet(7)). */
import type { Endpoint } from "../system_calls.ts";

export const AF = { inet: 2, inet6: 10, packet: 17 } as const;

/** Encodes an endpoint as `struct sockaddr_in` or `struct sockaddr_in6`. */
export function endpointBytes({ address, port }: Endpoint): Uint8Array<ArrayBuffer> {
  const size = address.family === 4 ? 4 : 16;
  const bytes = new Uint8Array(address.family === 4 ? 16 : 28);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, address.family === 4 ? AF.inet : AF.inet6, true);
  view.setUint16(2, port);
  const start = address.family === 4 ? 4 : 8;
  for (let at = 0; at < size; at++) bytes[start + at] = Number((address.value >> BigInt(8 * (size - 1 - at))) & 0xffn);
  return bytes;
}

/** Decodes the address and port of a `struct sockaddr_in` or `sockaddr_in6`, without the zone. */
export function endpointOf(bytes: Uint8Array): Endpoint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isIpv4 = view.getUint16(0, true) === AF.inet;
  const octets = isIpv4 ? bytes.subarray(4, 8) : bytes.subarray(8, 24);
  const value = octets.reduce((sum, octet) => sum << 8n | BigInt(octet), 0n);
  return { address: { family: isIpv4 ? 4 : 6, value, zone: "" }, port: view.getUint16(2) };
}

/** Encodes `struct sockaddr_ll` for all protocols on an interface. */
export function interfaceBytes(index: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(20);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, AF.packet, true);
  view.setUint16(2, ALL_PROTOCOLS);
  view.setInt32(4, index, true);
  return bytes;
}

/** ETH_P_ALL: all Ethernet protocols. */
export const ALL_PROTOCOLS = 3;
