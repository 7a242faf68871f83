/**
 * Addresses and blocks as text, as Go's net/netip prints them (RFC 5952): lower case, the longest run of zero groups
 * as `::`. Host bits after the prefix are kept. An IPv4-mapped address keeps its dotted form.
 */
import { type Address, type Cidr, parseAddress, parseCidr } from "./parse.ts";

/** `netip.Addr.String`: `10.1.1.1`, `2001:db8::1`, `fe80::1%eth0`. */
export function addressText(address: Address): string {
  if (address.family === 4) return dotted(address.value);
  const zone = address.zone === "" ? "" : `%${address.zone}`;
  return isMapped(address.value)
    ? `::ffff:${dotted(address.value & 0xffffffffn)}${zone}`
    : groups(address.value) + zone;
}

/** `netip.Prefix.String`: `10.1.2.3/8`. */
export function cidrText(cidr: Cidr): string {
  return `${addressText(cidr.address)}/${cidr.bits}`;
}

/** `netip.Addr.AsSlice`: the bytes of an address in network byte order, without the zone. */
export function addressBytes({ family, value }: Pick<Address, "family" | "value">): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(family === 4 ? 4 : 16);
  for (let at = bytes.length - 1, rest = value; at >= 0; at--, rest >>= 8n) bytes[at] = Number(rest & 0xffn);
  return bytes;
}

/** `netip.AddrFromSlice`: the address with these 4 or 16 bytes. */
export function addressIn(bytes: Uint8Array): Address {
  const value = bytes.reduce((sum, byte) => sum << 8n | BigInt(byte), 0n);
  return { family: bytes.length === 4 ? 4 : 6, value, zone: "" };
}

/** The block (CIDR) that contains only this address. */
export function hostBlock(address: Address): Cidr {
  return { address: { ...address, zone: "" }, bits: address.family === 4 ? 32 : 128 };
}

/** The block without host bits, as the kernel keeps it: `10.0.0.0/8` for `10.1.2.3/8`. */
export function maskedBlock(cidr: Cidr): Cidr {
  const host = BigInt((cidr.address.family === 4 ? 32 : 128) - cidr.bits);
  return { address: { ...cidr.address, value: (cidr.address.value >> host) << host }, bits: cidr.bits };
}

/** The text of an address or block as the kernel keeps it: `10.0.0.1/32`, `10.0.0.0/8`. Other texts do not change. */
export function normalBlock(text: string): string {
  const cidr = parseCidr(text);
  if (typeof cidr !== "string") return cidrText(maskedBlock(cidr));
  const address = parseAddress(text);
  return typeof address === "string" ? text : cidrText(hostBlock(address));
}

/** Whether a block contains an address of the same family. */
export function blockHolds(cidr: Cidr, address: Address): boolean {
  if (cidr.address.family !== address.family) return false;
  const host = BigInt((address.family === 4 ? 32 : 128) - cidr.bits);
  return cidr.address.value >> host === address.value >> host;
}

/** Whether an address is a loopback address: `127.0.0.0/8` or `::1` (RFC 1122, RFC 4291). */
export function isLoopback({ family, value }: Address): boolean {
  return family === 4 ? value >> 24n === 127n : value === 1n;
}

/** Whether an address is link-local: `169.254.0.0/16`, `fe80::/10`, `224.0.0.0/24`, `ff02::/16`. */
export function isLinkLocal({ family, value }: Address): boolean {
  if (family === 4) return value >> 16n === 0xa9fen || value >> 8n === 0xe00000n;
  return value >> 118n === 0x3fan || value >> 112n === 0xff02n;
}

/** The IPv4 address of an IPv4-mapped IPv6 address; other addresses do not change. */
export function unmapped(address: Address): Address {
  if (address.family === 4 || !isMapped(address.value)) return address;
  return { family: 4, value: address.value & 0xffffffffn, zone: "" };
}

/**
 * Identifies a client by its address: the whole IPv4 address, or the /64 of an IPv6 address, because a host may use any
 * address in its /64.
 */
export function networkOf(text: string): string {
  const address = parseAddress(text);
  if (typeof address === "string") return text;
  const { family, value } = unmapped(address);
  return addressText({ family, value: family === 4 ? value : value >> 64n << 64n, zone: "" });
}

function isMapped(value: bigint): boolean {
  return value >> 32n === 0xffffn;
}

function dotted(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".");
}

function groups(value: bigint): string {
  const words = [7n, 6n, 5n, 4n, 3n, 2n, 1n, 0n].map((at) => ((value >> (at * 16n)) & 0xffffn).toString(16));
  const run = longestZeroRun(words);
  if (run.length < 2) return words.join(":");
  return `${words.slice(0, run.start).join(":")}::${words.slice(run.start + run.length).join(":")}`;
}

/** The first of the longest runs of zero groups. */
function longestZeroRun(words: readonly string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let length = 0;
  words.forEach((word, at) => {
    length = word === "0" ? length + 1 : 0;
    if (length > best.length) best = { start: at - length + 1, length };
  });
  return best;
}
