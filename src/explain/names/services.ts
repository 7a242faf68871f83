/** Finds services and their addresses in a proxy's clusters, listeners, virtual hosts and name table. */
import { closest, editDistance } from "../../base/text/mod.ts";
import { addressOf } from "../address.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import { chainsOf, type FilterChain } from "../envoy/listener.ts";
import type { NameTable } from "./resolve.ts";

/** Returns the parts of a cluster name. Istio names clusters `outbound|PORT|SUBSET|HOST`. */
export function clusterParts(name: string) {
  const [direction = "", port = "", subset = "", host = ""] = name.split("|");
  return { direction, port, subset, host };
}

/** A service: its host and its ports, in ascending order. */
export interface KnownService {
  readonly host: string;
  readonly ports: readonly number[];
}

/** Returns the hosts of the outbound clusters with their ports. */
function portsByHost({ clusterNames }: EnvoyConfig): ReadonlyMap<string, ReadonlySet<number>> {
  const hosts = new Map<string, Set<number>>();
  for (const name of clusterNames) {
    const { direction, port, host } = clusterParts(name);
    if (direction !== "outbound" || host === "") continue;
    hosts.set(host, (hosts.get(host) ?? new Set()).add(Number(port)));
  }
  return hosts;
}

/** Returns the service with this address; `undefined` if the proxy does not know the address. */
export function serviceAt(
  config: EnvoyConfig,
  names: NameTable | undefined,
  address: string,
): KnownService | undefined {
  const hosts = portsByHost(config);
  const isKnown = (host: string) => hosts.has(host);
  const host = names?.hostAt(address, isKnown) ?? addressedHost(config, address, isKnown);
  return host === undefined ? undefined : { host, ports: [...hosts.get(host) ?? []].sort((a, b) => a - b) };
}

/** Whether a host belongs to a Kubernetes Service, and not to a ServiceEntry. */
export function isService(host: string, domain: string): boolean {
  const [, , kind = "", ...rest] = host.split(".");
  return kind === "svc" && rest.join(".") === domain;
}

/** Describes the service of a host: `the Service shop/catalog`, or `the host "db.example.com"` for a ServiceEntry. */
export function serviceText(host: string, domain: string): string {
  const [name = "", namespace = ""] = host.split(".");
  return isService(host, domain) ? `the Service ${namespace}/${name}` : `the host "${host}"`;
}

/** Returns the first of these full names that has a cluster. */
export function hostWithCluster(names: readonly string[], config: EnvoyConfig): string | undefined {
  const hosts = portsByHost(config);
  return names.find((name) => hosts.has(name));
}

/** Returns the known name, such as `catalog.shop`, that is most similar to an unknown name, if any name is similar. */
export function nearestName(
  asked: string,
  config: EnvoyConfig | undefined,
  { names, namespace, domain }: Readonly<Record<"namespace" | "domain", string>> & {
    readonly names: NameTable | undefined;
  },
): string | undefined {
  const hosts = new Set([...names?.hosts ?? [], ...config === undefined ? [] : portsByHost(config).keys()]);
  const suffix = `.svc.${domain}`;
  const own = asked.toLowerCase().replace(/\.$/, "").replace(suffix, "").replace(/\.svc$/, "");
  const known = [...hosts].filter((host) => !host.includes("*"))
    .map((host) => host.endsWith(suffix) ? host.slice(0, -suffix.length) : host)
    // At most half of the word may differ: "db" is not similar to "web".
    .filter((host) => editDistance(labelOf(own), labelOf(host)) * 2 <= labelOf(own).length).sort();
  const qualified = own.includes(".") ? own : `${own}.${namespace}`;
  return closest(qualified, known) ?? known.find((each) => closest(own, [labelOf(each)]) !== undefined);
}

function labelOf(host: string): string {
  return host.split(".")[0] ?? "";
}

/**
 * Returns the addresses of a full name. Searches the configuration of this port first. Empty if the addresses are
 * unknown.
 */
export function configuredAddresses(config: EnvoyConfig, name: string, port: number): string[] {
  const isOfPort = (route: string) => route === String(port) || route.endsWith(`:${port}`);
  const places = [
    () => virtualHostAddresses(config, name, isOfPort),
    () => listenerAddresses(config, name, (each) => each === port),
    () => virtualHostAddresses(config, name, () => true),
    () => listenerAddresses(config, name, () => true),
  ];
  return places.values().map((read) => read()).find((addresses) => addresses.length > 0) ?? [];
}

/** Returns the addresses of a service from virtual hosts. Their domains are the service's names and addresses. */
function virtualHostAddresses(config: EnvoyConfig, name: string, has: (route: string) => boolean): string[] {
  const hosts = config.routeNames.filter(has).flatMap((each) => config.route(each)?.virtualHosts ?? []);
  const own = hosts.filter(({ domains }) => domains.includes(name));
  return [...new Set(own.flatMap(({ domains }) => domains.map(plainAddress)))].filter((each) => each !== "");
}

/** Searches listeners, then virtual hosts. Returns the first host with this address for which `accepts` is true. */
function addressedHost(
  config: EnvoyConfig,
  address: string,
  accepts: (host: string) => boolean,
): string | undefined {
  for (const listener of config.listeners.filter((each) => each.addresses.some((own) => own.address === address))) {
    const host = chainsOf(listener).flatMap(hostsOf).find(accepts);
    if (host !== undefined) return host;
  }
  const hosts = config.routeNames.flatMap((each) => config.route(each)?.virtualHosts ?? []);
  return hosts.find(({ domains }) => domains.some((each) => plainAddress(each) === address))?.domains.find(accepts);
}

/** Returns the hosts of the outbound clusters in a TCP filter chain. */
function hostsOf({ filters }: FilterChain): string[] {
  const names = filters.flatMap((filter) =>
    filter.kind === "tcp" ? filter.clusters.map(({ name }) => clusterParts(name)) : []
  );
  return names.flatMap(({ direction, host }) => direction === "outbound" ? [host] : []);
}

/** Returns `10.96.1.1` for `10.96.1.1:80`, and `2001:db8::1` for `[2001:db8::1]`; empty for a name. */
function plainAddress(domain: string): string {
  const text = domain.replace(/^\[(.*)\](:\d+)?$/, "$1");
  const plain = /^\d+(\.\d+){3}:\d+$/.test(text) ? text.slice(0, text.indexOf(":")) : text;
  return addressOf(plain) === undefined ? "" : plain;
}

/** Returns the addresses of listeners. A TCP service has a listener at its address, with a chain to its cluster. */
function listenerAddresses({ listeners }: EnvoyConfig, name: string, has: (port: number) => boolean): string[] {
  const found = listeners.filter((listener) => chainsOf(listener).some((chain) => hostsOf(chain).includes(name)));
  return found.flatMap(({ addresses }) => addresses).filter((each) =>
    has(each.port) && each.address !== "0.0.0.0" && each.address !== "::"
  ).map(({ address }) => address);
}
