/** Reads Envoy's clusters (envoy/config/cluster/v3). */
import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { type Assignment, readAssignment } from "./assignment.ts";
import { anyAt, flagAt, hasMessage, millisecondsAt, numberAt, readAt } from "./message.ts";
import { istioOrigin } from "./route_config.ts";
import { readTransportSocket, type TransportSocket, transportSocketAt } from "./tls.ts";

export type Discovery = "static" | "strict-dns" | "logical-dns" | "eds" | "original-dst" | "other";

export interface Cluster {
  readonly name: string;
  readonly discovery: Discovery;
  /** Name of the extension that implements the cluster; empty for Envoy's own types. */
  readonly extension: string;
  /** Name of the cluster's endpoints in EDS; empty if equal to the cluster's name. */
  readonly edsName: string;
  /** Endpoints that are part of the cluster's own message; `undefined` with EDS. */
  readonly assignment: Assignment | undefined;
  readonly transport: TransportSocket;
  /** Transport sockets that the endpoint's metadata selects. Envoy uses the first match. */
  readonly transportMatches: readonly TransportMatch[];
  /** For an original-dst cluster: the header with the host's address, and the port that replaces the original port. */
  readonly originalDst: { readonly header: string; readonly port: number };
  readonly limits: Limits;
  readonly outlierDetection: OutlierDetection | undefined;
  readonly hasHealthChecks: boolean;
  /** Panic threshold: below this percentage of healthy hosts Envoy uses all hosts. */
  readonly panicThreshold: number;
  readonly localityWeighted: boolean;
  readonly policy: string;
  readonly connectTimeout: number | undefined;
  /** The resource that configures the cluster, such as `DestinationRule shop/reviews`; empty if unknown. */
  readonly origin: string;
  readonly subset: string;
  /** The namespace of the cluster's Service or ServiceEntry; empty if unknown. */
  readonly namespace: string;
  /** Whether Envoy chooses among the endpoints by their metadata (`lb_subset_config`), which Istio does not use. */
  readonly hasSubsets: boolean;
}

/** A `TransportSocketMatch`: a transport socket, and the endpoints that use it. */
export interface TransportMatch {
  readonly name: string;
  /** Values that the endpoint's metadata must have; empty matches every endpoint. */
  readonly match: ValueMap;
  readonly transport: TransportSocket;
}

export interface Limits {
  readonly connections: number;
  readonly pending: number;
  readonly requests: number;
  readonly retries: number;
}

export interface OutlierDetection {
  readonly consecutive5xx: number | undefined;
  readonly consecutiveGateway: number | undefined;
  readonly maxEjectionPercent: number;
  readonly baseEjection: number | undefined;
}

const TYPES: Readonly<Record<string, Discovery>> = {
  STATIC: "static",
  STRICT_DNS: "strict-dns",
  LOGICAL_DNS: "logical-dns",
  EDS: "eds",
  ORIGINAL_DST: "original-dst",
};

/** Reads a `Cluster`. The default discovery type is STATIC. */
export function readCluster(cluster: ValueMap): Cluster {
  const extension = anyAt(mapAt(cluster, "cluster_type"), "typed_config").type ||
    textAt(mapAt(cluster, "cluster_type"), "name");
  const originalDst = mapAt(cluster, "original_dst_lb_config");
  const common = mapAt(cluster, "common_lb_config");
  const metadata = mapAt(mapAt(mapAt(cluster, "metadata"), "filter_metadata"), "istio");
  return {
    name: textAt(cluster, "name"),
    discovery: extension === "" ? TYPES[textAt(cluster, "type") || "STATIC"] ?? "other" : "other",
    extension,
    edsName: textAt(mapAt(cluster, "eds_cluster_config"), "service_name"),
    assignment: readAt(cluster, "load_assignment", readAssignment),
    transport: transportSocketAt(cluster, "transport_socket"),
    transportMatches: mapsAt(cluster, "transport_socket_matches").map(readTransportMatch),
    originalDst: { header: headerOf(originalDst), port: numberAt(originalDst, "upstream_port_override") ?? 0 },
    limits: readLimits(mapAt(cluster, "circuit_breakers")),
    outlierDetection: readAt(cluster, "outlier_detection", readOutlierDetection),
    hasHealthChecks: mapsAt(cluster, "health_checks").length > 0,
    // An empty message means 0: proto3 omits zeros.
    panicThreshold: readAt(common, "healthy_panic_threshold", (percent) => numberAt(percent, "value") ?? 0) ?? 50,
    localityWeighted: hasMessage(common, "locality_weighted_lb_config"),
    policy: textAt(cluster, "lb_policy") || "ROUND_ROBIN",
    connectTimeout: millisecondsAt(cluster, "connect_timeout"),
    origin: istioOrigin(cluster),
    subset: textAt(metadata, "subset"),
    namespace: textAt(mapsAt(metadata, "services")[0] ?? {}, "namespace"),
    hasSubsets: mapsAt(mapAt(cluster, "lb_subset_config"), "subset_selectors").length > 0,
  };
}

function headerOf(config: ValueMap): string {
  if (!flagAt(config, "use_http_header")) return "";
  return (textAt(config, "http_header_name") || "x-envoy-original-dst-host").toLowerCase();
}

function readTransportMatch(map: ValueMap): TransportMatch {
  return {
    name: textAt(map, "name"),
    match: mapAt(map, "match"),
    transport: readTransportSocket(mapAt(map, "transport_socket")),
  };
}

/** Envoy's default limits (circuit_breaker.proto). */
export const DEFAULT_LIMITS: Limits = { connections: 1024, pending: 1024, requests: 1024, retries: 3 };

function readLimits(breakers: ValueMap): Limits {
  const thresholds = mapsAt(breakers, "thresholds").find(({ priority = "DEFAULT" }) => priority === "DEFAULT") ?? {};
  return {
    connections: numberAt(thresholds, "max_connections") ?? DEFAULT_LIMITS.connections,
    pending: numberAt(thresholds, "max_pending_requests") ?? DEFAULT_LIMITS.pending,
    requests: numberAt(thresholds, "max_requests") ?? DEFAULT_LIMITS.requests,
    retries: numberAt(thresholds, "max_retries") ?? DEFAULT_LIMITS.retries,
  };
}

function readOutlierDetection(map: ValueMap): OutlierDetection {
  return {
    consecutive5xx: numberAt(map, "consecutive_5xx"),
    consecutiveGateway: numberAt(map, "consecutive_gateway_failure"),
    maxEjectionPercent: numberAt(map, "max_ejection_percent") ?? 10,
    baseEjection: millisecondsAt(map, "base_ejection_time"),
  };
}
