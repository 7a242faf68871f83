/** Parsers for settings. Each takes a string and returns the value, or `Wrong` with all problems. */
import { type Cidr, goTrim, parseCidr, parseUint } from "../../golang/net/mod.ts";
import type { PortRange, PortsForUids } from "./settings.ts";

export class Wrong {
  constructor(readonly reasons: readonly string[]) {}
}

/** Numbers of users or groups by name. */
export type Names = ReadonlyMap<string, number>;

/**
 * Parses the names and numbers in a file such as passwd(5) or group(5). Ignores invalid lines; of duplicates, the first
 * wins.
 */
export function parseNames(text: string): Names {
  const names = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [name = "", , id = ""] = line.split(":");
    if (name !== "" && !name.startsWith("#") && /^\d+$/.test(id) && !names.has(name)) names.set(name, Number(id));
  }
  return names;
}

/** Splits a list as Istio does. Ignores spaces around items, which the injector of Istio 1.0 writes. */
function listItems(text: string): string[] {
  return text.split(",").map(goTrim).filter((item) => item !== "");
}

/** Reads a port from 1 to 65535. */
export function readPort(text: string): number | Wrong {
  const port = parseUint(goTrim(text), 16);
  if (typeof port === "string") return new Wrong([port]);
  return port === 0 ? new Wrong([`"${text}" is not a port from 1 to 65535`]) : port;
}

function readPortRange(text: string): PortRange | Wrong {
  const [, first = text, last = first] = /^(.[^-:]*)[-:](.+)$/.exec(text) ?? [];
  const ends = collect([first, last], readPort);
  if (ends instanceof Wrong) return new Wrong(ends.reasons.slice(0, 1));
  const [from = 0, to = 0] = ends;
  return from > to ? new Wrong([`the end of the range "${text}" is less than its start`]) : { first: from, last: to };
}

/** Reads a list of ports and ranges, without `*`. */
export function readPorts(text: string): PortRange[] | Wrong {
  return collect(listItems(text), readPortRange);
}

/** Returns a parser that accepts `*`, and all values that `read` accepts. */
export function orAll<T>(read: (text: string) => T): (text: string) => "*" | T {
  return (text) => goTrim(text) === "*" ? "*" : read(text);
}

/** Reads a list of CIDR blocks, such as `10.0.0.0/8,2001:db8::/32`. */
export function readCidrs(text: string): Cidr[] | Wrong {
  return collect(listItems(text), (item) => {
    const cidr = parseCidr(item);
    return typeof cidr === "string" ? new Wrong([cidr]) : cidr;
  });
}

/** Reads the IPv4 loopback block, which must be within 127.0.0.0/8. */
export function readLoopback(text: string): Cidr | Wrong {
  const cidr = parseCidr(text);
  if (typeof cidr === "string") return new Wrong([cidr]);
  const isLoopback = cidr.address.family === 4 && cidr.address.value >> 24n === 127n && cidr.bits >= 8;
  return isLoopback ? cidr : new Wrong([`"${text}" is not within 127.0.0.0/8`]);
}

/** Reads a list of interfaces. A final `+` matches any suffix, as in iptables. */
export function readInterfaces(text: string): string[] | Wrong {
  return collect(listItems(text), (name) => {
    if (name.length > 15) return new Wrong([`the interface name "${name}" is longer than 15 characters`]);
    return /^[A-Za-z0-9][A-Za-z0-9_.@-]*\+?$/.test(name) ? name : new Wrong([`"${name}" is not an interface name`]);
  });
}

/** Reads numbers, ranges and known names. Accepts any valid name if `names` is `undefined`. */
export function readOwners(text: string, kind: string, names: Names | undefined): string[] | Wrong {
  return collect(listItems(text), (item) => {
    const reason = ownerProblem(item, kind, names);
    return reason === undefined ? item : new Wrong([reason]);
  });
}

function ownerProblem(item: string, kind: string, names: Names | undefined): string | undefined {
  const ends = /^(\d+)(?:-(\d+))?$/.exec(item);
  if (ends === null) return nameProblem(item, kind, names);
  const [, first = "", last = first] = ends;
  const [from, to] = [Number(first), Number(last)];
  if (Math.max(from, to) >= 2 ** 32 - 1) return `${kind} ${item} is greater than 4294967294`;
  return from > to ? `the end of the range "${item}" is less than its start` : undefined;
}

/** Returns the problem with a user or group name (useradd(8)), or `undefined` if the name is valid. */
function nameProblem(item: string, kind: string, names: Names | undefined): string | undefined {
  if (!/^[A-Za-z_][\w.-]*\$?$/.test(item)) return `"${item}" is not a valid ${kind} name`;
  return names === undefined || names.has(item) ? undefined : `the ${kind} "${item}" does not exist`;
}

/** Reads a packet mark: 1 to 2^32-1, decimal or hexadecimal. */
export function readMark(text: string): number | Wrong {
  const number = goTrim(text);
  const mark = /^0[xX][0-9a-fA-F]{1,8}$/.test(number) ? Number(number) : parseUint(number, 32);
  if (typeof mark === "string") return new Wrong([mark]);
  if (mark === 0) return new Wrong(["the packet mark 0 has no effect"]);
  return mark === 1338
    ? new Wrong(["the packet mark 1338 is reserved for connections from the proxy to its own pod"])
    : mark;
}

const KERNEL_TABLES: Readonly<Record<number, string>> = { 0: "unspec", 253: "default", 254: "main", 255: "local" };

/** Reads the number of a routing table. Rejects reserved tables. */
export function readRouteTable(text: string): number | Wrong {
  const table = parseUint(goTrim(text), 32);
  if (typeof table === "string") return new Wrong([table]);
  const own = KERNEL_TABLES[table];
  return own === undefined ? table : new Wrong([`${table} is the number of the reserved routing table "${own}"`]);
}

/** Reads ports for users, such as `tcp:5432,6000-6010:1000,1001` or `udp:*:1000`. */
export function readPortsForUids(text: string, users: Names | undefined): PortsForUids | Wrong {
  const [, protocol, ports, uids] = /^(tcp|udp):([^:]+|\d+:\d+):([^:]+)$/.exec(goTrim(text)) ?? [];
  if ((protocol !== "tcp" && protocol !== "udp") || ports === undefined || uids === undefined) {
    return new Wrong([`"${text}" must have the form PROTOCOL:PORTS:UIDS`]);
  }
  const read = { ports: orAll(readPorts)(ports), uids: readOwners(uids, "user", users) };
  if (read.ports instanceof Wrong) return read.ports;
  return read.uids instanceof Wrong ? read.uids : { protocol, ports: read.ports, uids: read.uids };
}

/** Reads all items. Returns all values, or all problems. */
export function collect<T>(items: readonly string[], read: (item: string) => T | Wrong): T[] | Wrong {
  const values: T[] = [];
  const reasons: string[] = [];
  for (const item of items) {
    const value = read(item);
    if (value instanceof Wrong) reasons.push(...value.reasons);
    else values.push(value);
  }
  return reasons.length === 0 ? values : new Wrong(reasons);
}
