/** Finds the transport socket that Envoy uses for a host (TransportSocketMatcherImpl::resolve). */
import { sameValue } from "../../base/values/mod.ts";
import type { ValueMap } from "../../base/value.ts";
import type { Cluster } from "../envoy/cluster.ts";
import type { TransportSocket } from "../envoy/tls.ts";

/** The transport socket, and the match that selects it. */
export interface TransportChoice {
  readonly transport: TransportSocket;
  /** Name of the match; empty for the cluster's own socket. */
  readonly match: string;
}

/** Returns the first match whose values are in the endpoint's metadata, or else the cluster's own socket. */
export function transportFor(
  { transport, transportMatches }: Pick<Cluster, "transport" | "transportMatches">,
  metadata: ValueMap,
): TransportChoice {
  const found = transportMatches.find(({ match }) =>
    Object.entries(match).every(([key, value]) => sameValue(metadata[key] ?? null, value))
  );
  return found === undefined ? { transport, match: "" } : { transport: found.transport, match: found.name };
}
