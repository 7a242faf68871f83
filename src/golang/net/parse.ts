/**
 * Parses ports, addresses and names as Go's strconv, net/netip and net do, and host names by the rules of Kubernetes.
 * Functions return the value, or the problem as a string.
 */
import { trimmed } from "../../base/text/mod.ts";

/** An IP address: its bits as a number. */
export interface Address {
  readonly family: 4 | 6;
  readonly value: bigint;
  /** The zone of an IPv6 address (`fe80::1%eth0`), `""` for none. */
  readonly zone: string;
}

/** A block of addresses; `address` keeps the bits after the prefix, as `netip.ParsePrefix` does. */
export interface Cidr {
  readonly address: Address;
  readonly bits: number;
}

/** `strconv.ParseUint(text, 10, bits)` for up to 32 bits: digits only, without sign or spaces. */
export function parseUint(text: string, bits: 8 | 16 | 32): number | string {
  const most = 2 ** bits - 1;
  if (text === "") return "it is empty";
  if (!/^[0-9]+$/.test(text)) return `"${text}" is not a whole number`;
  const significant = text.replace(/^0+(?=\d)/, "");
  const number = significant.length > 10 ? Infinity : Number(significant);
  return number > most ? `${text} is more than ${most}` : number;
}

/** Parses a port from 0 to 65535. Spaces around the number are ignored. */
export function parsePort(text: string): number | string {
  return parseUint(goTrim(text), 16);
}

/** Parses a comma-separated list of ports. An empty text is an empty list; an empty item is an error. */
export function parsePortList(text: string): number[] | string {
  const trimmed = goTrim(text);
  return trimmed === "" ? [] : readAll(trimmed.split(","), parsePort);
}

/** Parses a comma-separated list of blocks, without spaces. An empty text is an empty list. */
export function parseCidrList(text: string): Cidr[] | string {
  return text === "" ? [] : readAll(text.split(","), parseCidr);
}

/** Parses all items. Returns their values, or the problem of the first invalid item. */
export function readAll<T extends number | object>(
  items: readonly string[],
  read: (item: string) => T | string,
): T[] | string {
  const values: T[] = [];
  for (const item of items) {
    const value = read(item);
    if (typeof value === "string") return value;
    values.push(value);
  }
  return values;
}

/** `strings.TrimSpace`: Unicode white space, without the byte order mark that JavaScript trims. */
export function goTrim(text: string): string {
  return trimmed(text, (char) => /\p{White_Space}/u.test(char));
}

/** `netip.ParsePrefix`: `10.0.0.0/8`, `2001:db8::/32`. */
export function parseCidr(text: string): Cidr | string {
  const slash = text.lastIndexOf("/");
  if (slash < 0) return `"${text}" has no prefix length after a "/"`;
  const address = parseAddress(text.slice(0, slash));
  if (typeof address === "string") return address;
  if (address.zone !== "") return `"${text}" has a zone`;
  const length = text.slice(slash + 1);
  const most = address.family === 4 ? 32 : 128;
  const bits = /^(0|[1-9]\d{0,2})$/.test(length) ? Number(length) : Infinity;
  return bits > most ? `"${length}" is not a prefix length from 0 to ${most}` : { address, bits };
}

/** `netip.ParseAddr`: an IPv4 address without leading zeros, or an IPv6 address with or without a zone. */
export function parseAddress(text: string): Address | string {
  const wrong = `"${text}" is not an IP address`;
  if (!text.includes(":")) {
    const value = ipv4Bits(text);
    return value === undefined ? wrong : { family: 4, value, zone: "" };
  }
  const percent = text.indexOf("%");
  const zone = percent < 0 ? "" : text.slice(percent + 1);
  if (percent >= 0 && zone === "") return wrong;
  const value = ipv6Bits(percent < 0 ? text : text.slice(0, percent));
  return value === undefined ? wrong : { family: 6, value, zone };
}

function ipv4Bits(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    value = value << 8n | BigInt(part);
  }
  return value;
}

function ipv6Bits(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head = "", tail] = halves;
  const before = groupsOf(head, tail === undefined);
  const after = tail === undefined ? [] : groupsOf(tail, true);
  if (before === undefined || after === undefined) return undefined;
  const missing = 8 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...before, ...Array<bigint>(missing).fill(0n), ...after];
  return groups.reduce((value, group) => value << 16n | group, 0n);
}

/** The groups on one side of `::`. An IPv4 address is allowed only at the end of the text. */
function groupsOf(text: string, isEnd: boolean): bigint[] | undefined {
  if (text === "") return [];
  const parts = text.split(":");
  const last = parts[parts.length - 1] ?? "";
  const embedded = isEnd && last.includes(".") ? ipv4Bits(last) : undefined;
  if (embedded !== undefined) parts.pop();
  if (!parts.every((part) => /^[0-9a-fA-F]{1,4}$/.test(part))) return undefined;
  const groups = parts.map((part) => BigInt(`0x${part}`));
  return embedded === undefined ? groups : [...groups, embedded >> 16n, embedded & 0xffffn];
}

/** `net.SplitHostPort`: `host:port`, `[::1]:port`; the port may be any text. */
export function splitHostPort(text: string): { readonly host: string; readonly port: string } | string {
  const colon = text.lastIndexOf(":");
  if (colon < 0) return `"${text}" has no port`;
  const port = text.slice(colon + 1);
  const host = text.slice(0, colon);
  if (!host.startsWith("[")) {
    return /[:[\]]/.test(host) || /[[\]]/.test(port) ? `"${text}" is not of the form host:port` : { host, port };
  }
  const inner = host.slice(1, -1);
  return host.endsWith("]") && !/[[\]]/.test(inner + port)
    ? { host: inner, port }
    : `"${text}" is not of the form host:port`;
}

/** `net.JoinHostPort`: `host:port`, with brackets around an IPv6 address. */
export function joinHostPort(host: string, port: number | string): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

const LABEL = /^[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?$/;

/** Whether a text is one label of a host name: letters, digits and inner hyphens, at most 63. */
export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && LABEL.test(text);
}

/** Whether a text is a DNS label in lower case (RFC 1123), as the name of a namespace or of a revision. */
export function isLowerDnsLabel(text: string): boolean {
  return isDnsLabel(text) && text === text.toLowerCase();
}

/** Whether a text is a host name: labels joined by dots, with an optional final dot; the last label is not a number. */
export function isHostName(text: string): boolean {
  if (text === "" || text.length > 255) return false;
  const labels = text.split(".");
  const last = labels[labels.length - 1] ?? "";
  if (/^[+-]?\d+$/.test(last)) return false;
  if (last === "") labels.pop();
  return labels.every(isDnsLabel);
}

/** Why a service address `host:port` (a host name or IP, a port from 1) is invalid; `undefined` if it is valid. */
export function hostPortProblem(text: string): string | undefined {
  const parts = splitHostPort(text);
  if (typeof parts === "string") return parts;
  // strconv.Atoi reads the port here: a sign is allowed, spaces are not.
  const port = parseUint(parts.port.replace(/^\+/, ""), 16);
  if (typeof port === "string") return `the port is invalid: ${port}`;
  if (port === 0) return "the port 0 is not from 1 to 65535";
  const isHost = isHostName(parts.host) || typeof parseAddress(parts.host) !== "string";
  return isHost ? undefined : `"${parts.host}" is neither a host name nor an IP address`;
}

/**
 * Why a network interface's name is invalid; `undefined` if the name is valid. A name has 1 to 15 letters, digits, `_`,
 * `.` or `-`, and starts with a letter.
 */
export function interfaceNameProblem(text: string): string | undefined {
  if (text === "") return "an interface name is empty";
  if (text.length > 15) return `the interface name "${text}" is longer than 15 characters`;
  return /^[a-zA-Z][a-zA-Z0-9_.\-]*$/.test(text) ? undefined : `"${text}" is not an interface name`;
}
