/** The endpoints of a cluster, as the control plane assigned them (envoy/config/endpoint/v3). */
import { trimmedEnd } from "../../base/text/mod.ts";
import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { addressAt, numberAt, type SocketAddress } from "./message.ts";

/** A `ClusterLoadAssignment`. */
export interface Assignment {
  readonly endpoints: readonly Endpoint[];
  /** Overprovisioning factor in percent. */
  readonly overprovisioning: number;
}

export interface Endpoint {
  readonly address: SocketAddress;
  /** `HEALTHY`, `UNHEALTHY`, `DEGRADED`, `DRAINING`, `TIMEOUT`, `UNKNOWN`. */
  readonly health: string;
  readonly locality: string;
  readonly priority: number;
  /** `undefined`: the locality has no weight. */
  readonly localityWeight: number | undefined;
  /** The metadata that selects a transport socket. */
  readonly transportMetadata: ValueMap;
  /** The cluster of the mesh that it is in; empty if Istio does not say it. */
  readonly cluster: string;
  /** It is the gateway of another network, and not a workload. */
  readonly isGateway: boolean;
  /** `ADDRESS:PORT` of the waypoint of a tunnel; empty without one. */
  readonly waypoint: string;
}

/** Envoy's default (endpoint.proto). */
export const OVERPROVISIONING = 140;

/** A `ClusterLoadAssignment`. */
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

/** Istio's `WORKLOAD;NAMESPACE;NAME;REVISION;CLUSTER`; a gateway has the cluster alone (pilot/pkg/networking/util). */
function placeOf(text: string): Pick<Endpoint, "cluster" | "isGateway"> {
  const [workload = "", namespace = "", name = "", , cluster = ""] = text.split(";");
  return { cluster, isGateway: `${workload}${namespace}${name}` === "" && cluster !== "" };
}

/** `region/zone/sub_zone`, without empty parts at the end. */
export function localityText(locality: ValueMap): string {
  const parts = ["region", "zone", "sub_zone"].map((key) => textAt(locality, key));
  return trimmedEnd(parts.join("/"), "/");
}
