/** Builds the clusters of the bootstrap. */
import type { Value } from "../../../base/value.ts";
import { FILES_SOCKET, identitySocketPath } from "../../settings/pod/pod.ts";
import type { AgentSettings } from "../../settings/read.ts";
import { networkView, socketAddress } from "./addresses.ts";
import { envoyType } from "./proto_types.ts";
import { remoteService } from "./stats.ts";
import { controlPlaneTls, tlsSocket } from "./tls.ts";
import { tracerOf } from "./tracing.ts";

/** Returns all clusters, in Istio's order. */
export function clusters(settings: AgentSettings) {
  const { ports, bootstrap } = settings;
  const { localhost } = networkView(settings);
  return [
    local("prometheus_stats", localhost, ports.admin),
    local("agent", localhost, ports.status),
    secretCluster("sds-grpc", identitySocketPath(bootstrap.identitySocket)),
    ...(bootstrap.hasCustomSds ? [secretCluster("sds-files-grpc", FILES_SOCKET)] : []),
    controlPlane(settings),
    ...collector(settings),
    ...service(settings, "envoy_metrics_service", "envoyMetricsService"),
    ...service(settings, "envoy_accesslog_service", "envoyAccessLogService"),
    ...(hasSelfDiscovery(settings) ? [LOCAL_CLUSTER] : []),
  ];
}

/** Whether the proxy requests its own service's endpoints, for zone aware load balancing. */
export function hasSelfDiscovery({ node }: AgentSettings): boolean {
  return node.metadata["ENABLE_SELF_DISCOVERY"] === "true";
}

const HTTP2 = {
  typed_extension_protocol_options: {
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
      "@type": envoyType("extensions.upstreams.http.v3.HttpProtocolOptions"),
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

type EnvoyAddress =
  | { readonly socket_address: { readonly address: string; readonly port_value: number; readonly protocol?: "TCP" } }
  | { readonly pipe: { readonly path: string } };

function cluster(name: string, type: "STATIC" | "STRICT_DNS", connectTimeout: string, address: EnvoyAddress) {
  return {
    name,
    alt_stat_name: `${name};`,
    type,
    connect_timeout: connectTimeout,
    lb_policy: "ROUND_ROBIN",
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] },
  };
}

function local(name: string, address: string, port: number) {
  return cluster(name, "STATIC", "0.250s", { socket_address: { protocol: "TCP", address, port_value: port } });
}

function secretCluster(name: string, path: string) {
  return { ...cluster(name, "STATIC", "1s", { pipe: { path } }), ...HTTP2 };
}

/**
 * The cluster of the control plane. The endpoint is the agent's xDS socket, or istiod with `--xds direct`. Each
 * connection carries one stream.
 */
function controlPlane(settings: AgentSettings) {
  const limits = { max_connections: 100000, max_pending_requests: 100000, max_requests: 100000 };
  const { bootstrap, envoy, xds } = settings;
  const upstream = bootstrap.isXdsDirect
    ? { ...named(settings, "xds-grpc", xds.address), ...(xds.tls === undefined ? {} : controlPlaneTls(xds.tls)) }
    : cluster("xds-grpc", "STATIC", "1s", { pipe: { path: `${envoy.configPath}/XDS` } });
  return {
    ...upstream,
    circuit_breakers: { thresholds: [{ priority: "DEFAULT", ...limits }, { priority: "HIGH", ...limits }] },
    upstream_connection_options: { tcp_keepalive: { keepalive_time: 300 } },
    max_requests_per_connection: 1,
    ...HTTP2,
  };
}

function named(settings: AgentSettings, name: string, address: string) {
  const socket = socketAddress(address, settings.bootstrap.hostIp);
  return {
    ...cluster(name, "STRICT_DNS", "1s", { socket_address: socket }),
    respect_dns_ttl: true,
    dns_lookup_family: networkView(settings).dnsLookupFamily,
  };
}

function collector(settings: AgentSettings) {
  const tracer = tracerOf(settings);
  if (tracer === undefined) return [];
  const { cluster: name, isHttp2, dnsRefreshRate } = tracer.kind;
  return [{
    ...named(settings, name, tracer.address),
    ...(dnsRefreshRate === undefined ? {} : { dns_refresh_rate: dnsRefreshRate }),
    ...transport(settings, tracer.tlsSettings, "tracer", isHttp2),
    ...(isHttp2 ? HTTP2 : {}),
  }];
}

function transport(settings: AgentSettings, tls: Value | undefined, sni: string, isHttp2: boolean) {
  const socket = tlsSocket(tls, { sni, isHttp2, metadata: settings.node.typedMetadata });
  return socket === undefined ? {} : { transport_socket: socket };
}

function service(settings: AgentSettings, name: string, field: "envoyMetricsService" | "envoyAccessLogService") {
  const remote = remoteService(settings.proxyConfig.data, field);
  if (remote === undefined) return [];
  return [{
    ...named(settings, name, remote.address),
    ...transport(settings, remote.tls, name, true),
    ...(remote.connection === undefined ? {} : { upstream_connection_options: remote.connection }),
    ...HTTP2,
  }];
}

const LOCAL_CLUSTER = {
  name: "local_cluster",
  alt_stat_name: "local_cluster;",
  type: "EDS",
  connect_timeout: "1s",
  load_balancing_policy: {
    policies: [{
      typed_extension_config: {
        name: "envoy.load_balancing_policies.least_request",
        typed_config: {
          "@type": envoyType("extensions.load_balancing_policies.least_request.v3.LeastRequest"),
          locality_lb_config: { zone_aware_lb_config: { min_cluster_size: "1" } },
        },
      },
    }],
  },
  eds_cluster_config: { eds_config: { ads: {}, resource_api_version: "V3" }, service_name: "local_cluster" },
};
