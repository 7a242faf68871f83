/** Resolves names as a pod does, with search domains and ndots, and then the agent's name table. */
import { isMap, mapAt, textsAt, type ValueMap } from "../../base/value.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { jsonOf } from "../snapshot/json_part.ts";
import type { Pod } from "../pod.ts";

interface Search {
  readonly ndots: number;
  readonly domains: readonly string[];
}

/** Returns the pod's search domains, then the domains of its dnsConfig (Kubernetes, "DNS for Services and Pods"). */
export function searchOf(namespace: string, domain: string, pod: Pod | undefined): Search {
  const { ndots, searches, policy } = pod?.dns ?? { ndots: 5, searches: [], policy: "ClusterFirst" };
  const usual = namespace === "" ? [`svc.${domain}`, domain] : [`${namespace}.svc.${domain}`, `svc.${domain}`, domain];
  const isOwn = policy === "None" || policy === "Default";
  return { ndots, domains: [...isOwn ? [] : usual, ...searches].map((each) => each.replace(/\.$/, "")) };
}

/** Returns the full names that the resolver queries, in order (resolv.conf(5)). */
export function askedNames(name: string, { ndots, domains }: Search): string[] {
  if (name.endsWith(".")) return [name.slice(0, -1).toLowerCase()];
  const own = name.toLowerCase();
  const searched = domains.map((domain) => `${own}.${domain}`);
  const dots = own.split(".").length - 1;
  return dots >= ndots ? [own, ...searched] : [...searched, own];
}

/** The agent's name table: hosts and their addresses. */
export interface NameTable {
  /** Returns the addresses of a full name, also from a wildcard entry; `undefined` if not in the table. */
  find(name: string): { readonly host: string; readonly addresses: readonly string[] } | undefined;
  readonly hosts: readonly string[];
  /** Returns the first accepted host with this address. */
  hostAt(address: string, accepts: (host: string) => boolean): string | undefined;
}

/** Returns the name table of a snapshot; `undefined` if absent, for example because DNS is not captured. */
export function nameTableOf({ parts }: Pick<Snapshot, "parts">): NameTable | undefined {
  const { value } = jsonOf(parts["name_table.json"], "name_table.json");
  if (value === undefined) return undefined;
  const table: ValueMap = isMap(value["table"]) ? value["table"] : value;
  const addressesOf = (host: string) =>
    Object.hasOwn(table, host) ? { host, addresses: textsAt(mapAt(table, host), "ips") } : undefined;
  const hosts = Object.keys(table);
  return {
    hosts,
    hostAt: (address, accepts) => hosts.find((host) => accepts(host) && addressesOf(host)?.addresses.includes(address)),
    find(name) {
      const exact = addressesOf(name);
      if (exact !== undefined) return exact;
      for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
        const wild = addressesOf(`*${name.slice(dot)}`);
        if (wild !== undefined) return wild;
      }
      return undefined;
    },
  };
}
