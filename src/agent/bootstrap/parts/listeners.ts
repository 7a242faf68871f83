/** Builds the listeners of the bootstrap: metrics, metrics over TLS, health. */
import type { ValueMap } from "../../../base/value.ts";
import type { AgentSettings } from "../../settings/read.ts";
import { networkView } from "./addresses.ts";
import { envoyType } from "./proto_types.ts";
import { sdsSecret } from "./tls.ts";

/** Content types of metrics that Envoy and the agent return. */
const METRICS_TYPES = [
  "text/plain",
  "application/vnd.google.protobuf",
  "application/openmetrics-text",
  "application/openmetrics-protobuf",
];

/** Returns all listeners, in Istio's order. */
export function listeners(settings: AgentSettings) {
  const { ports, bootstrap: { stats, statusProxyProtocol } } = settings;
  const { secureMetrics, secureMergedMetrics } = ports;
  const envoy = { path: "/stats/prometheus", cluster: "prometheus_stats" };
  const compressors = stats.compression ? COMPRESSORS.map(compressor) : [];
  return [
    {
      ...listener(metricsAddresses(settings), ports.prometheus),
      filter_chains: [{ filters: [http("stats", [envoy], compressors)] }],
    },
    ...(secureMetrics === 0 ? [] : [secured(settings, secureMetrics, http("secure_stats", [envoy]))]),
    ...(secureMergedMetrics === 0 ? [] : [secured(
      settings,
      secureMergedMetrics,
      http("secure_merged_stats", ["/stats/prometheus", "/metrics"].map((path) => ({ path, cluster: "agent" }))),
    )]),
    {
      ...listener(wildcards(settings), ports.envoyStatus),
      ...(statusProxyProtocol ? { listener_filters: [PROXY_PROTOCOL] } : {}),
      filter_chains: [{ filters: [http("agent", [{ path: "/healthz/ready", cluster: "agent" }])] }],
    },
  ];
}

type Addresses = readonly [first: string, additional: string | undefined];

function wildcards(settings: AgentSettings): Addresses {
  const { wildcard, additional } = networkView(settings);
  return [wildcard, additional?.wildcard];
}

/**
 * Returns the addresses of the metrics listener. As in Istio, `METRICS_LOCALHOST_ACCESS_ONLY` affects this listener
 * only if the variable is set in `proxyMetadata`.
 */
function metricsAddresses(settings: AgentSettings): Addresses {
  if (settings.proxy.proxyMetadata["METRICS_LOCALHOST_ACCESS_ONLY"] !== "true") return wildcards(settings);
  const { localhost, additional } = networkView(settings);
  return [localhost, additional?.localhost];
}

/**
 * Returns a listener for health or metrics. The connection limit and the overload manager do not affect this listener.
 */
function listener([address, additional]: Addresses, port: number) {
  return {
    name: `${address}_${port}`,
    address: tcp(address, port),
    ignore_global_conn_limit: true,
    bypass_overload_manager: true,
    ...(additional === undefined ? {} : { additionalAddresses: [{ address: tcp(additional, port) }] }),
  };
}

function tcp(address: string, port: number) {
  return { socket_address: { protocol: "TCP", address, port_value: port } };
}

interface Route {
  readonly path: string;
  readonly cluster: string;
}

function http(statPrefix: string, routes: readonly Route[], filters: readonly ValueMap[] = []) {
  return {
    name: "envoy.filters.network.http_connection_manager",
    typed_config: {
      "@type": envoyType("extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
      codec_type: "AUTO",
      stat_prefix: statPrefix,
      route_config: {
        virtual_hosts: [{
          name: "backend",
          domains: ["*"],
          routes: routes.map(({ path, cluster }) => ({ match: { prefix: path }, route: { cluster } })),
        }],
      },
      http_filters: [...filters, ROUTER],
    },
  };
}

const ROUTER = {
  name: "envoy.filters.http.router",
  typed_config: { "@type": envoyType("extensions.filters.http.router.v3.Router") },
};

const PROXY_PROTOCOL = {
  name: "envoy.listener.proxy_protocol",
  typed_config: {
    "@type": envoyType("extensions.filters.listener.proxy_protocol.v3.ProxyProtocol"),
    allow_requests_without_proxy_protocol: true,
  },
};

const COMPRESSORS = [["brotli", "Brotli"], ["zstd", "Zstd"], ["gzip", "Gzip"]] as const;

function compressor([name, type]: typeof COMPRESSORS[number]) {
  return {
    name: `envoy.filters.http.compressor.${name}`,
    typed_config: {
      "@type": envoyType("extensions.filters.http.compressor.v3.Compressor"),
      compressor_library: {
        name: `stats_${name}`,
        typed_config: { "@type": envoyType(`extensions.compression.${name}.compressor.v3.${type}`) },
      },
      response_direction_config: { common_config: { content_type: METRICS_TYPES } },
    },
  };
}

/** Returns a listener that requires a client certificate of the mesh. */
function secured(settings: AgentSettings, port: number, filter: ValueMap) {
  return {
    ...listener(wildcards(settings), port),
    listener_filters: [{
      name: "envoy.filters.listener.tls_inspector",
      typed_config: { "@type": envoyType("extensions.filters.listener.tls_inspector.v3.TlsInspector") },
    }],
    filter_chains: [{
      filter_chain_match: { transport_protocol: "tls" },
      transport_socket: {
        name: "envoy.transport_sockets.tls",
        typed_config: {
          "@type": envoyType("extensions.transport_sockets.tls.v3.DownstreamTlsContext"),
          require_client_certificate: true,
          common_tls_context: {
            tls_certificate_sds_secret_configs: [sdsSecret("default")],
            combined_validation_context: {
              default_validation_context: {},
              validation_context_sds_secret_config: sdsSecret("ROOTCA"),
            },
          },
        },
      },
      filters: [filter],
    }],
  };
}
