/** Which names the mesh has, and what a question for one of them gets. Source: Istio's pkg/dns/client. */
import { binaryOf } from "../../../core/bytes.ts";
import { parseAddress } from "../../../core/net.ts";
import type { NameInfo } from "../table/name_table.ts";
import { TYPE, wireName } from "../wire.ts";

/** Addresses of a host, one after the other, each byte a character: a tenth of what arrays of bytes would take. */
export interface Host {
  /** Four bytes each. */
  readonly ipv4: string;
  /** Sixteen bytes each. */
  readonly ipv6: string;
}

/** Hosts by their names on the wire. */
export type Lookup = ReadonlyMap<string, Host>;

/** Where the proxy is: short names are those of its own namespace and domain. */
export interface Surroundings {
  readonly namespace: string;
  /** Such as `ns.svc.cluster.local`. */
  readonly domain: string;
}

/** The addresses for a question; none if the host has none of that family. */
export interface Found {
  readonly addresses: string;
  /** Bytes of an address. */
  readonly width: 4 | 16;
  /** The name that the asked one stands for, on the wire, where it is another one. */
  readonly canonical: string | undefined;
}

/**
 * What a question gets: `undefined` if another server has to be asked. `search` is the first search domain of the resolver, on
 * the wire: a program asks for `www.example.com` with it first, and learns at once what it wants. A host goes before an
 * alias of another, and wildcards come last, the longest first.
 */
export function find(
  lookup: Lookup,
  search: string | undefined,
  name: string,
  type: number | undefined,
): Found | undefined {
  if (type !== TYPE.A && type !== TYPE.AAAA) return undefined;
  const direct = match(lookup, search, name);
  if (direct !== undefined) return foundOf(direct, type);
  for (let at = 0; name.charCodeAt(at) > 0;) {
    at += name.charCodeAt(at) + 1;
    const wild = match(lookup, search, `\x01*${name.slice(at)}`);
    if (wild !== undefined) return foundOf(wild, type);
  }
  return undefined;
}

interface Match {
  readonly host: Host;
  readonly canonical: string | undefined;
}

function match(lookup: Lookup, search: string | undefined, name: string): Match | undefined {
  const host = lookup.get(name);
  if (host !== undefined) return { host, canonical: undefined };
  if (search === undefined || !name.endsWith(search)) return undefined;
  const canonical = `${name.slice(0, -search.length)}\0`;
  const expanded = lookup.get(canonical);
  return expanded === undefined ? undefined : { host: expanded, canonical };
}

function foundOf({ host, canonical }: Match, type: typeof TYPE.A | typeof TYPE.AAAA): Found {
  return type === TYPE.A
    ? { addresses: host.ipv4, width: 4, canonical }
    : { addresses: host.ipv6, width: 16, canonical };
}

/**
 * The index of a table. Where two hosts have the same name, the one whose own name it is has it, then one of Kubernetes, then
 * the first by name: Istio leaves it to chance. A host without an address that can be read is left out.
 */
export function buildLookup(entries: Iterable<readonly [string, NameInfo]>, around: Surroundings): Lookup {
  const lookup = new Map<string, Host>();
  const sorted = [...entries].sort(([a, one], [b, other]) => rank(one) - rank(other) || (a < b ? -1 : 1));
  const read = sorted.map(([hostname, info]) => ({ hostname, info, host: hostOf(info.ips) }));
  const domain = withoutNamespace(around);
  for (const { hostname, host } of read) add(lookup, hostname, host);
  for (const { hostname, info, host } of read) {
    for (const alias of aliases(hostname, info, around.namespace, domain)) add(lookup, alias, host);
  }
  return lookup;
}

const KUBERNETES = "Kubernetes";

function rank({ registry }: NameInfo): number {
  return registry === KUBERNETES ? 0 : 1;
}

function add(lookup: Map<string, Host>, text: string, host: Host | undefined): void {
  const name = wireName(text);
  if (name !== undefined && host !== undefined && !lookup.has(name)) lookup.set(name, host);
}

function hostOf(ips: readonly string[]): Host | undefined {
  let [ipv4, ipv6] = ["", ""];
  for (const ip of ips) {
    const bytes = addressBytes(ip);
    if (bytes?.length === 4) ipv4 += binaryOf(bytes);
    else if (bytes !== undefined) ipv6 += binaryOf(bytes);
  }
  return ipv4 === "" && ipv6 === "" ? undefined : { ipv4, ipv6 };
}

const MAPPED = 0xffffn;

/** An IPv4 address within IPv6 is one of IPv4. */
function addressBytes(text: string): Uint8Array | undefined {
  const address = parseAddress(text);
  if (typeof address === "string") return undefined;
  const bytes = new Uint8Array(address.family === 4 || address.value >> 32n === MAPPED ? 4 : 16);
  let rest = address.value;
  for (let at = bytes.length - 1; at >= 0; at--, rest >>= 8n) bytes[at] = Number(rest & 0xffn);
  return bytes;
}

/** The domain begins with the namespace of the proxy in Kubernetes. */
function withoutNamespace({ namespace, domain }: Surroundings): string {
  const [first, ...rest] = domain.split(".");
  return first === namespace ? rest.join(".") : domain;
}

/** Names of another domain are those of another cluster, whose services may be called the same. */
function aliases(hostname: string, info: NameInfo, namespace: string, domain: string): readonly string[] {
  if (info.registry !== KUBERNETES || domain === "" || !hostname.endsWith(domain)) return [];
  const inNamespace = `${info.shortname}.${info.namespace}`;
  return [
    inNamespace,
    ...info.namespace === namespace ? [info.shortname] : [],
    `${inNamespace}.${domain.split(".", 1)[0] ?? ""}`,
    ...info.altHosts,
  ];
}
