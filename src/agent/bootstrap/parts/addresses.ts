/** Where the proxy listens and what it resolves, by the families of the pod's addresses. Source: Istio's bootstrap.Config. */
import type { AgentSettings } from "../../settings/settings.ts";
import { parsePort, splitHostPort } from "../../../core/net.ts";

/** Addresses of one family. */
interface Family {
  readonly localhost: string;
  readonly wildcard: string;
}

const V4: Family = { localhost: "127.0.0.1", wildcard: "0.0.0.0" };
const V6: Family = { localhost: "::1", wildcard: "::" };

export interface NetworkView extends Family {
  /** The other family, where the proxy listens on both. */
  readonly additional: Family | undefined;
  readonly dnsLookupFamily: "V4_ONLY" | "V6_ONLY" | "ALL";
}

/** With addresses of both families IPv4 counts, unless dual stack is on: then the first address says which is the first. */
export function networkView({ addresses, ipMode, bootstrap }: AgentSettings): NetworkView {
  if (ipMode === "ipv6") return { ...V6, additional: undefined, dnsLookupFamily: "V6_ONLY" };
  if (ipMode === "ipv4" || !bootstrap.dualStack) return { ...V4, additional: undefined, dnsLookupFamily: "V4_ONLY" };
  const isV6First = (addresses[0] ?? "").includes(":");
  const [first, second] = isV6First ? [V6, V4] : [V4, V6];
  return { ...first, additional: second, dnsLookupFamily: "ALL" };
}

/** A socket address as Envoy reads it. */
export type SocketAddress = {
  readonly address: string;
  readonly port_value: number;
};

/**
 * The socket address of a checked `host:port`; `$(HOST_IP)` as the host is the node's address, if that is known.
 * Source: Istio's option.addressConverter.
 */
export function socketAddress(text: string, hostIp: string): SocketAddress {
  const parts = splitHostPort(text);
  const { host, port } = typeof parts === "string" ? { host: text, port: "0" } : parts;
  const number = parsePort(port);
  return {
    address: host === "$(HOST_IP)" && hostIp !== "" ? hostIp : host,
    port_value: typeof number === "number" ? number : 0,
  };
}
