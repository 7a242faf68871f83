/** The services that a proxy knows, from its clusters, virtual hosts and name table. */
import { closest, editDistance } from "../../base/text/mod.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import { addressedHost } from "./configured.ts";
import type { NameTable } from "./resolve.ts";

/** Istio names clusters `outbound|PORT|SUBSET|HOST`. */
export function clusterParts(name: string) {
  const [direction = "", port = "", subset = "", host = ""] = name.split("|");
  return { direction, port, subset, host };
}

/** A service: its host, and its ports in order. */
export interface KnownService {
  readonly host: string;
  readonly ports: readonly number[];
}

/** Hosts of the outbound clusters with their ports. */
function portsByHost({ clusterNames }: EnvoyConfig): ReadonlyMap<string, ReadonlySet<number>> {
  const hosts = new Map<string, Set<number>>();
  for (const name of clusterNames) {
    const { direction, port, host } = clusterParts(name);
    if (direction !== "outbound" || host === "") continue;
    hosts.set(host, (hosts.get(host) ?? new Set()).add(Number(port)));
  }
  return hosts;
}

/** The service with this address; `undefined` if the proxy knows none. */
export function serviceAt(
  config: EnvoyConfig,
  names: NameTable | undefined,
  address: string,
): KnownService | undefined {
  const hosts = portsByHost(config);
  const host = names?.hostAt(address, (each) => hosts.has(each)) ??
    addressedHost(config, address, (each) => hosts.has(each));
  const ports = host === undefined ? undefined : hosts.get(host);
  return host === undefined || ports === undefined ? undefined : { host, ports: [...ports].sort((a, b) => a - b) };
}

/** Whether a host is a Service of Kubernetes, and not of a ServiceEntry. */
export function isService(host: string, domain: string): boolean {
  const [, , kind = "", ...rest] = host.split(".");
  return kind === "svc" && rest.join(".") === domain;
}

/** `the Service shop/catalog`, or the host of a ServiceEntry. */
export function serviceText(host: string, domain: string): string {
  const [name = "", namespace = ""] = host.split(".");
  return isService(host, domain) ? `the Service ${namespace}/${name}` : `the host "${host}"`;
}

/** The first of these full names that has a cluster. */
export function hostWithCluster(names: readonly string[], config: EnvoyConfig): string | undefined {
  const hosts = portsByHost(config);
  return names.find((name) => hosts.has(name));
}

/** The known name closest to an unknown name: `catalog.shop`; `undefined` if none is close. */
export function nearestName(
  asked: string,
  config: EnvoyConfig | undefined,
  { names, namespace, domain }: {
    readonly names: NameTable | undefined;
    readonly namespace: string;
    readonly domain: string;
  },
): string | undefined {
  const hosts = new Set([...names?.hosts ?? [], ...config === undefined ? [] : portsByHost(config).keys()]);
  const suffix = `.svc.${domain}`;
  const own = asked.toLowerCase().replace(/\.$/, "").replace(suffix, "").replace(/\.svc$/, "");
  const known = [...hosts].filter((host) => !host.includes("*"))
    .map((host) => host.endsWith(suffix) ? host.slice(0, -suffix.length) : host)
    .filter((host) => isLike(labelOf(own), labelOf(host))).sort();
  const qualified = own.includes(".") ? own : `${own}.${namespace}`;
  return closest(qualified, known) ?? known.find((each) => closest(own, [labelOf(each)]) !== undefined);
}

function labelOf(host: string): string {
  return host.split(".")[0] ?? "";
}

/** At most half of the word differs: "web" is not meant by "db". */
function isLike(asked: string, known: string): boolean {
  return editDistance(asked, known) * 2 <= asked.length;
}
