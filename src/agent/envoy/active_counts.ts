/** What Envoy still has in hand, from the texts of its admin interface. */
/** Adds up over lines. */
export interface Count {
  add(line: string): void;
  /** -1 if no line was about what is counted. */
  total(): number;
}

/** Listeners of the proxy's own, on all addresses or the loopback, as their statistics are called; `:` is `_` there. */
const OWN_ADDRESS = /^(?:0\.0\.0\.0|127\.0\.0\.1|\[__\]|\[__1\]|\[__ffff_127\.0\.0\.1\])_(\d+)$/;
const CONNECTIONS = /^listener\.(.+)\.downstream_cx_active: (\d+)$/;

/**
 * Connections of clients, from `/stats?usedonly&filter=downstream_cx_active$`: those of every listener but the admin
 * interface, the internal ones and those of the ports given (health and metrics). Source: pilot-agent's count of active
 * connections (Istio, pkg/envoy/agent.go), which knows its own listeners on IPv4 only.
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

/** Clusters of the bootstrap: their streams (control plane, tracing, metrics, logs) are Envoy's own. */
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

/** Requests and connections that Envoy forwards at this moment, from `/clusters`: those of clusters not its own. */
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
