/** Finds services in a proxy's clusters, virtual hosts and name table. */
import { closest, editDistance } from "../../base/text/mod.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import { addressedHost } from "./configured.ts";
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
  const host = names?.hostAt(address, (each) => hosts.has(each)) ??
    addressedHost(config, address, (each) => hosts.has(each));
  const ports = host === undefined ? undefined : hosts.get(host);
  return host === undefined || ports === undefined ? undefined : { host, ports: [...ports].sort((a, b) => a - b) };
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

/** Whether at most half of the word differs: "db" is not similar to "web". */
function isLike(asked: string, known: string): boolean {
  return editDistance(asked, known) * 2 <= asked.length;
}
