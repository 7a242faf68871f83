/** Finds the destination address: resolves the host as the pod does. */
import { parseAddress } from "../../golang/net/mod.ts";
import { askedNames, searchOf } from "../names/resolve.ts";
import { configuredAddresses, hostWithCluster, nearestName } from "../names/services.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import type { Connection } from "../question/question.ts";
import type { Facts } from "./facts.ts";
import { causeOf } from "../resources/cause.ts";
import { passing, refusing, type Step, unsure } from "./connection_path.ts";

export interface Destination {
  /** The DNS step; `undefined` if the host is an address. */
  readonly step: Step | undefined;
  /** The chosen address; `undefined` if unknown. */
  readonly address: string | undefined;
}

/** Resolves the host of a connection to an address, and returns the DNS step. */
export function destinationOf(facts: Facts, { host, port }: Connection): Destination {
  if (typeof parseAddress(host) !== "string") return { step: undefined, address: host };
  const search = searchOf(facts.namespace, facts.domain, facts.pod);
  const asked = askedNames(host, search);
  const found = inTable(facts, asked) ?? inConfiguration(facts, asked, port);
  if (found !== undefined) return found;
  return { step: unresolved(facts, host, asked, search.ndots), address: undefined };
}

/** Returns the step for a name without an address. It suggests the most similar known name. */
function unresolved(facts: Facts, host: string, asked: readonly string[], ndots: number): Step {
  const own = facts.config === undefined ? undefined : hostWithCluster(asked, facts.config);
  const known = facts.names === undefined ? "the snapshot has no name table" : "it is not in the mesh's name table";
  const unknown = `the address of "${host}" is unknown: ${known}`;
  const detail = { asked: asked.slice(0, MAX_NAMES), ndots };
  if (own !== undefined) {
    const message = `${unknown}, and Envoy's configuration has no address of ${own}`;
    return unsure("dns", { name: host, message, detail });
  }
  const message = `${unknown}, and no service of Envoy's configuration has this name`;
  const nearest = nearestName(host, facts.config, facts);
  const { workload } = facts;
  const cause = causeOf("Sidecar", "spec.egress.hosts", { by: "egress", workload, hosts: asked.slice(0, MAX_NAMES) });
  if (nearest === undefined) return unsure("dns", { name: host, message, detail }, cause);
  const question = { name: host, message: `${message}; did you mean ${nearest}?`, detail: { ...detail, nearest } };
  return { ...unsure("dns", question, cause), fix: `use the name ${nearest}` };
}

const MAX_NAMES = 8;

function inTable({ names }: Facts, asked: readonly string[]): Destination | undefined {
  for (const name of names === undefined ? [] : asked) {
    const found = names?.find(name);
    if (found !== undefined) return resolved(name, found.addresses, "seen", "the mesh's name table");
  }
  return undefined;
}

function inConfiguration({ config }: Facts, asked: readonly string[], port: number): Destination | undefined {
  if (config === undefined) return undefined;
  for (const name of asked) {
    const addresses = configuredAddresses(config, name, port);
    const by = "Envoy's configuration has these addresses of the service";
    if (addresses.length > 0) return resolved(name, addresses, "planned", by);
    const own = resolvedByEnvoy(config, name, port);
    if (own.length > 0) return resolved(name, own, "planned", "Envoy itself resolved the name");
  }
  return undefined;
}

/** Returns the addresses that Envoy itself resolved with DNS, such as for a ServiceEntry with `resolution: DNS`. */
function resolvedByEnvoy(config: EnvoyConfig, name: string, port: number): string[] {
  const cluster = config.cluster(`outbound|${port}||${name}`);
  if (cluster?.discovery !== "strict-dns" && cluster?.discovery !== "logical-dns") return [];
  return (config.status(cluster.name)?.hosts ?? []).map(({ address }) => address.address);
}

/** Chooses the first IPv4 address, or else the first IPv6 address, as glibc does in a dual-stack pod. */
function resolved(name: string, all: readonly string[], source: "seen" | "planned", by: string): Destination {
  const addresses = all.toSorted((a, b) => Number(a.includes(":")) - Number(b.includes(":")));
  const [address] = addresses;
  if (address === undefined) {
    const message = `"${name}" has no address in ${by}`;
    return { step: refusing("dns", { name, source, message }, "add endpoints or an address to the service"), address };
  }
  const more = addresses.length > 1 ? `, the first of ${addresses.length}` : "";
  const detail = { addresses: addresses.slice(0, MAX_NAMES) };
  return { step: passing("dns", { name, source, message: `${address}${more}: ${by}`, detail }), address };
}
