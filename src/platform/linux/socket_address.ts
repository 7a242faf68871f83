/** Encodes and decodes the kernel's socket address structures (ip(7), ipv6(7), packet(7)). */
import { addressBytes, addressIn } from "../../golang/net/mod.ts";
import type { Endpoint } from "../system_calls.ts";

export const AF = { inet: 2, inet6: 10, packet: 17 } as const;

/** Encodes an endpoint as `struct sockaddr_in` or `struct sockaddr_in6`. */
export function endpointBytes({ address, port }: Endpoint): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(address.family === 4 ? 16 : 28);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, address.family === 4 ? AF.inet : AF.inet6, true);
  view.setUint16(2, port);
  bytes.set(addressBytes(address), address.family === 4 ? 4 : 8);
  return bytes;
}

/** Decodes the address and port of a `struct sockaddr_in` or `sockaddr_in6`, without the zone. */
export function endpointOf(bytes: Uint8Array): Endpoint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isIpv4 = view.getUint16(0, true) === AF.inet;
  return { address: addressIn(isIpv4 ? bytes.subarray(4, 8) : bytes.subarray(8, 24)), port: view.getUint16(2) };
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
