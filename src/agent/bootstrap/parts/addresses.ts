/** Address family of listeners and DNS lookups. Source: Istio's bootstrap.Config. */
import type { AgentSettings } from "../../settings/read.ts";
import { parsePort, splitHostPort } from "../../../golang/net/mod.ts";

interface Family {
  readonly localhost: string;
  readonly wildcard: string;
}

const V4: Family = { localhost: "127.0.0.1", wildcard: "0.0.0.0" };
const V6: Family = { localhost: "::1", wildcard: "::" };

export interface NetworkView extends Family {
  readonly additional: Family | undefined;
  readonly dnsLookupFamily: "V4_ONLY" | "V6_ONLY" | "ALL";
}

/**
 * Chooses the addresses. A pod with both families uses IPv4 only, unless dual stack is on. Dual stack uses both
 * families, and the family of the pod's first address comes first.
 */
export function networkView({ addresses, ipMode, bootstrap }: AgentSettings): NetworkView {
  if (ipMode === "ipv6") return { ...V6, additional: undefined, dnsLookupFamily: "V6_ONLY" };
  if (ipMode === "ipv4" || !bootstrap.dualStack) return { ...V4, additional: undefined, dnsLookupFamily: "V4_ONLY" };
  const isV6First = (addresses[0] ?? "").includes(":");
  const [first, second] = isV6First ? [V6, V4] : [V4, V6];
  return { ...first, additional: second, dnsLookupFamily: "ALL" };
}

/**
 * Returns Envoy's socket address for a valid `host:port`. The host `$(HOST_IP)` becomes the node's address, if known.
 * Source: Istio's option.addressConverter.
 */
export function socketAddress(text: string, hostIp: string) {
  const parts = splitHostPort(text);
  const { host, port } = typeof parts === "string" ? { host: text, port: "0" } : parts;
  const number = parsePort(port);
  return {
    address: host === "$(HOST_IP)" && hostIp !== "" ? hostIp : host,
    port_value: typeof number === "number" ? number : 0,
  };
}
