/** The addresses that Envoy's configuration has for the name of a service. */
import { parseAddress } from "../../golang/net/mod.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import type { FilterChain, Listener } from "../envoy/listener.ts";

/** Addresses of a full name with this port; empty if the configuration has none. */
export function configuredAddresses(config: EnvoyConfig, name: string, port: number): string[] {
  const ofHosts = virtualHostAddresses(config, name, port);
  return ofHosts.length > 0 ? ofHosts : listenerAddresses(config, name, port);
}

/** A virtual host has the names and the addresses of its service as domains. */
function virtualHostAddresses(config: EnvoyConfig, name: string, port: number): string[] {
  const routes = config.routeNames.filter((each) => each === String(port) || each.endsWith(`:${port}`));
  const hosts = routes.flatMap((each) => config.route(each)?.virtualHosts ?? []);
  const own = hosts.filter(({ domains }) => domains.includes(name));
  return [...new Set(own.flatMap(({ domains }) => domains.map(plainAddress)))].filter((each) => each !== "");
}

/** `10.96.1.1` of `10.96.1.1`, `10.96.1.1:80`, `[2001:db8::1]`; empty for a name. */
function plainAddress(domain: string): string {
  const text = domain.replace(/^\[(.*)\](:\d+)?$/, "$1");
  const plain = /^\d+(\.\d+){3}:\d+$/.test(text) ? text.slice(0, text.indexOf(":")) : text;
  return typeof parseAddress(plain) === "string" ? "" : plain;
}

/** A service of TCP has a listener at its address, whose chain leads to the cluster of its name. */
function listenerAddresses({ listeners }: EnvoyConfig, name: string, port: number): string[] {
  const found = listeners.filter((listener) => chainsOf(listener).some((chain) => leadsTo(chain, name, port)));
  return found.flatMap(({ addresses }) => addresses).filter((each) =>
    each.port === port && each.address !== "0.0.0.0" && each.address !== "::"
  ).map(({ address }) => address);
}

function chainsOf({ chains, defaultChain }: Listener): readonly FilterChain[] {
  return defaultChain === undefined ? chains : [...chains, defaultChain];
}

/** Istio names clusters `outbound|PORT|SUBSET|HOST`. */
function leadsTo({ filters }: FilterChain, name: string, port: number): boolean {
  return filters.some((filter) =>
    filter.kind === "tcp" && filter.tcp.clusters.some(({ name: cluster }) => {
      const [direction, of, , host] = cluster.split("|");
      return direction === "outbound" && of === String(port) && host === name;
    })
  );
}
