/** Counts Envoy's active connections and requests, from its admin interface. */

export interface Count {
  add(line: string): void;
  /** Returns the sum; -1 if no line matched. */
  total(): number;
}

/**
 * Matches the address in a statistics name if the listener may be the proxy's own: a wildcard or loopback address, with
 * `_` in place of `:`.
 */
const OWN_ADDRESS = /^(?:0\.0\.0\.0|127\.0\.0\.1|\[__\]|\[__1\]|\[__ffff_127\.0\.0\.1\])_(\d+)$/;
const CONNECTIONS = /^listener\.(.+)\.downstream_cx_active: (\d+)$/;

/**
 * Counts client connections from `/stats?usedonly&filter=downstream_cx_active$`. Leaves out the admin interface,
 * internal listeners and `ownPorts` (health, metrics). Source: Istio, pkg/envoy/agent.go, which recognizes its own
 * listeners on IPv4 only.
 */
export function clientConnections(ownPorts: readonly number[]): Count {
  let total = -1;
  return {
    add(line) {
      const [, listener = "", count] = CONNECTIONS.exec(line) ?? [];
      if (count === undefined) return;
      total = Math.max(total, 0);
      if (isClients(listener, ownPorts)) total += Number(count);
    },
    total: () => total,
  };
}

function isClients(listener: string, ownPorts: readonly number[]): boolean {
  if (listener.includes("worker_") || listener.startsWith("envoy_internal_")) return false;
  if (listener === "admin" || listener === "admin.main_thread") return false;
  const port = OWN_ADDRESS.exec(listener)?.[1];
  return port === undefined || !ownPorts.includes(Number(port));
}

/** Names of clusters that carry Envoy's own traffic. */
const OWN_CLUSTERS: ReadonlySet<string> = new Set([
  "prometheus_stats",
  "agent",
  "sds-grpc",
  "sds-files-grpc",
  "xds-grpc",
  "zipkin",
  "lightstep",
  "datadog_agent",
  "envoy_metrics_service",
  "envoy_accesslog_service",
]);

const CLUSTER = /^(.*)::added_via_api::(?:true|false)$/;
const REQUESTS = /::rq_(?:pending_)?active::(\d+)$/;

/** Counts forwarded requests and connections in flight, from `/clusters`. */
export function forwardedRequests(): Count {
  let total = -1;
  let cluster = "";
  return {
    add(line) {
      cluster = CLUSTER.exec(line)?.[1] ?? cluster;
      const count = REQUESTS.exec(line)?.[1];
      if (count === undefined) return;
      total = Math.max(total, 0);
      if (!OWN_CLUSTERS.has(cluster)) total += Number(count);
    },
    total: () => total,
  };
}
