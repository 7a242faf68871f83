/** Reads the endpoints that the control plane assigned to a cluster (envoy/config/endpoint/v3). */
import { trimmedEnd } from "../../base/text/mod.ts";
import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { addressAt, numberAt, type SocketAddress } from "./message.ts";

/** The fields of a `ClusterLoadAssignment` that affect the choice of an endpoint. */
export interface Assignment {
  readonly endpoints: readonly Endpoint[];
  readonly overprovisioning: number;
}

export interface Endpoint {
  readonly address: SocketAddress;
  /** A health status of EDS: `HEALTHY`, `UNHEALTHY`, `DEGRADED`, `DRAINING`, `TIMEOUT` or `UNKNOWN`. */
  readonly health: string;
  readonly locality: string;
  readonly priority: number;
  readonly localityWeight: number | undefined;
  /** The metadata that selects a transport socket. */
  readonly transportMetadata: ValueMap;
  /** The mesh cluster of the endpoint; empty if unknown. */
  readonly cluster: string;
  /** Whether the endpoint is the gateway to another network, not a workload. */
  readonly isGateway: boolean;
  /** `ADDRESS:PORT` of the waypoint of a tunnel; empty without a waypoint. */
  readonly waypoint: string;
}

/** Envoy's default overprovisioning factor, in percent (endpoint.proto). */
export const OVERPROVISIONING = 140;

/** Reads a `ClusterLoadAssignment`. */
export function readAssignment(assignment: ValueMap): Assignment {
  return {
    endpoints: mapsAt(assignment, "endpoints").flatMap(readLocality),
    overprovisioning: numberAt(mapAt(assignment, "policy"), "overprovisioning_factor") ?? OVERPROVISIONING,
  };
}

function readLocality(group: ValueMap): Endpoint[] {
  const locality = localityText(mapAt(group, "locality"));
  const priority = numberAt(group, "priority") ?? 0;
  const localityWeight = numberAt(group, "load_balancing_weight");
  return mapsAt(group, "lb_endpoints").flatMap((endpoint) => {
    const address = addressAt(mapAt(endpoint, "endpoint"), "address");
    if (address === undefined) return [];
    const metadata = mapAt(mapAt(endpoint, "metadata"), "filter_metadata");
    return [{
      address,
      health: textAt(endpoint, "health_status") || "UNKNOWN",
      locality,
      priority,
      localityWeight,
      transportMetadata: mapAt(metadata, "envoy.transport_socket_match"),
      ...placeOf(textAt(mapAt(metadata, "istio"), "workload")),
      waypoint: textAt(mapAt(metadata, "envoy.filters.listener.original_dst"), "waypoint"),
    }];
  });
}

/**
 * Parses Istio's `WORKLOAD;NAMESPACE;NAME;REVISION;CLUSTER`. For a gateway, only the cluster is set
 * (pilot/pkg/networking/util).
 */
function placeOf(text: string): Pick<Endpoint, "cluster" | "isGateway"> {
  const [workload = "", namespace = "", name = "", , cluster = ""] = text.split(";");
  return { cluster, isGateway: `${workload}${namespace}${name}` === "" && cluster !== "" };
}

/** Returns `region/zone/sub_zone`, without empty parts at the end. */
export function localityText(locality: ValueMap): string {
  const parts = ["region", "zone", "sub_zone"].map((key) => textAt(locality, key));
  return trimmedEnd(parts.join("/"), "/");
}
