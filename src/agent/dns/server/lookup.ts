/** Index of the mesh's host names. Source: Istio's pkg/dns/client. */
import { binaryOf } from "../../../base/bytes.ts";
import { addressBytes, parseAddress, unmapped } from "../../../golang/net/mod.ts";
import type { NameInfo } from "../table/name_table.ts";
import type { ProxyDomain } from "../options.ts";
import { TYPE, wireName } from "../wire.ts";

/**
 * A host's addresses, concatenated, with one character per byte. This format needs a tenth of the memory of byte
 * arrays.
 */
export interface Host {
  readonly ipv4: string;
  readonly ipv6: string;
}

export type Lookup = ReadonlyMap<string, Host>;

export interface Found {
  readonly addresses: string;
  readonly width: 4 | 16;
  /** The canonical name of an alias, in wire format; `undefined` if the question does not name an alias. */
  readonly canonical: string | undefined;
}

/**
 * Finds the addresses for a question; `undefined` means that the question must be forwarded. `search` is the resolver's
 * first search domain. A resolver appends this domain even to `www.example.com` before it tries the name itself. The
 * answer to such a question is an alias for the name, which saves the second question. Exact names win over wildcards,
 * and longer wildcards over shorter ones.
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
 * Builds the index. If a name stands for several hosts, a full host name wins over an alias, then a Kubernetes Service
 * over other hosts, then the host that is first in name order (Istio chooses at random). Leaves out hosts without a
 * valid address.
 */
export function buildLookup(entries: Iterable<readonly [string, NameInfo]>, proxy: ProxyDomain): Lookup {
  const lookup = new Map<string, Host>();
  const sorted = [...entries].sort(([a, one], [b, other]) => rank(one) - rank(other) || (a < b ? -1 : 1));
  const read = sorted.map(([hostname, info]) => ({ hostname, info, host: hostOf(info.ips) }));
  const domain = withoutNamespace(proxy);
  for (const { hostname, host } of read) add(lookup, hostname, host);
  for (const { hostname, info, host } of read) {
    for (const alias of aliases(hostname, info, proxy.namespace, domain)) add(lookup, alias, host);
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
    const address = parseAddress(ip);
    if (typeof address === "string") continue;
    const bytes = addressBytes(unmapped(address));
    if (bytes.length === 4) ipv4 += binaryOf(bytes);
    else ipv6 += binaryOf(bytes);
  }
  return ipv4 === "" && ipv6 === "" ? undefined : { ipv4, ipv6 };
}

/** Returns the domain without a leading namespace: `svc.cluster.local` for `ns.svc.cluster.local`. */
function withoutNamespace({ namespace, domain }: ProxyDomain): string {
  const [first, ...rest] = domain.split(".");
  return first === namespace ? rest.join(".") : domain;
}

/**
 * Returns the short names of a Kubernetes Service. Hosts outside `domain` get no short names, because services in
 * another cluster may have the same short names.
 */
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
