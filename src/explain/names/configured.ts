/** Finds the addresses of a service name in Envoy's configuration. */
import { parseAddress } from "../../golang/net/mod.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import type { FilterChain, Listener } from "../envoy/listener.ts";

/**
 * Returns the addresses of a full name. Searches the configuration of this port first. Empty if the addresses are
 * unknown.
 */
export function configuredAddresses(config: EnvoyConfig, name: string, port: number): string[] {
  const found = [
    () => virtualHostAddresses(config, name, (route) => route === String(port) || route.endsWith(`:${port}`)),
    () => listenerAddresses(config, name, (each) => each === port),
    () => virtualHostAddresses(config, name, () => true),
    () => listenerAddresses(config, name, () => true),
  ];
  for (const addresses of found) {
    const own = addresses();
    if (own.length > 0) return own;
  }
  return [];
}

/**
 * Returns the addresses of a name from virtual hosts. The domains of a virtual host are a service's names and
 * addresses.
 */
function virtualHostAddresses(config: EnvoyConfig, name: string, has: (route: string) => boolean): string[] {
  const hosts = config.routeNames.filter(has).flatMap((each) => config.route(each)?.virtualHosts ?? []);
  const own = hosts.filter(({ domains }) => domains.includes(name));
  return [...new Set(own.flatMap(({ domains }) => domains.map(plainAddress)))].filter((each) => each !== "");
}

/** Searches listeners, then virtual hosts. Returns the first host with this address for which `accepts` is true. */
export function addressedHost(
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
  const names = filters.flatMap((filter) => filter.kind === "tcp" ? filter.clusters.map(({ name }) => name) : []);
  return names.filter((name) => name.startsWith("outbound|")).map((name) => name.split("|")[3] ?? "");
}

/** Returns `10.96.1.1` for `10.96.1.1:80`, and `2001:db8::1` for `[2001:db8::1]`; empty for a name. */
function plainAddress(domain: string): string {
  const text = domain.replace(/^\[(.*)\](:\d+)?$/, "$1");
  const plain = /^\d+(\.\d+){3}:\d+$/.test(text) ? text.slice(0, text.indexOf(":")) : text;
  return typeof parseAddress(plain) === "string" ? "" : plain;
}

/** Returns the addresses of listeners. A TCP service has a listener at its address, with a chain to its cluster. */
function listenerAddresses({ listeners }: EnvoyConfig, name: string, has: (port: number) => boolean): string[] {
  const found = listeners.filter((listener) => chainsOf(listener).some((chain) => hostsOf(chain).includes(name)));
  return found.flatMap(({ addresses }) => addresses).filter((each) =>
    has(each.port) && each.address !== "0.0.0.0" && each.address !== "::"
  ).map(({ address }) => address);
}

function chainsOf({ chains, defaultChain }: Listener): readonly FilterChain[] {
  return defaultChain === undefined ? chains : [...chains, defaultChain];
}
