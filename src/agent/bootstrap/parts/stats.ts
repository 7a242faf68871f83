/** Builds the settings of Envoy's statistics: tags, filters, histograms and sinks. */
import { isMap, mapAt, textAt, type Value, type ValueMap } from "../../../base/value.ts";
import type { AgentSettings } from "../../settings/read.ts";
import { envoyType } from "./proto_types.ts";
import { socketAddress } from "./addresses.ts";

type Tag = readonly [name: string, regex: string];

/** Regular expressions of tags, in the order in which Envoy evaluates them. */
const TAGS: readonly Tag[] = [
  ["cluster_name", "^cluster(\\.(.+);)"],
  ["http_conn_manager_prefix", "^http\\.(((?:[_.[:digit:]\\w]*|[_\\[\\]aAbBcCdDeEfF[:digit:]\\w\\:]*));\\.)"],
  ["thread_name", "^server(\\.(.+))\\.watchdog"],
  ["tcp_prefix", "^tcp\\.((.*?)\\.)\\w+?$"],
  ["response_code", "_rq(_(\\d{3}))$"],
  ["response_code_class", "_rq(_(\\dxx))$"],
  [
    "http_conn_manager_listener_prefix",
    "^listener(?=\\.).*?\\.http\\.(((?:[_.[:digit:]]*|[_\\[\\]aAbBcCdDeEfF[:digit:]]*))\\.)",
  ],
  ["listener_address", "^listener\\.(((?:[_.[:digit:]]*|[_\\[\\]aAbBcCdDeEfF[:digit:]]*))\\.)"],
  ["mongo_prefix", "^mongo\\.(.+?)\\.(collection|cmd|cx_|op_|delays_|decoding_)(.*?)$"],
];

const LAST_TAGS: readonly Tag[] = [
  ["cache", "(cache\\.(.+?)\\.)"],
  ["component", "(component\\.(.+?)\\.)"],
  ["tag", "(tag\\.(.+?);\\.)"],
  ["wasm_filter", "(wasm_filter\\.(.+?)\\.)"],
  ["authz_enforce_result", "rbac(\\.(allowed|denied))"],
  ["authz_dry_run_action", "(\\.istio_dry_run_(allow|deny)_)"],
  ["authz_dry_run_result", "(\\.shadow_(allowed|denied))"],
];

/** Builds `stats_config`. */
export function statsConfig({ bootstrap }: AgentSettings) {
  const { stats, metadataDiscovery } = bootstrap;
  const extra = stats.extraTags.map((tag): Tag => [tag, `(${tag}=\\.=(.*?);\\.;)`]);
  const buckets = stats.histogramBuckets.map(({ prefix, buckets }) => ({ match: { prefix }, buckets: [...buckets] }));
  return {
    use_all_default_tags: false,
    stats_tags: [...TAGS, ...extra, ...LAST_TAGS].map(([tag_name, regex]) => ({ tag_name, regex })),
    ...(buckets.length === 0 ? {} : { histogram_bucket_settings: buckets }),
    stats_matcher: {
      inclusion_list: {
        patterns: [
          { prefix: "reporter=" },
          ...(metadataDiscovery ? [{ prefix: "workload_discovery" }] : []),
          ...stats.prefixes.map((prefix) => ({ prefix })),
          ...stats.suffixes.map((suffix) => ({ suffix })),
          ...stats.regexps.map((regex) => ({ safe_regex: { regex } })),
          { prefix: "component" },
          { prefix: "istio" },
        ],
      },
    },
  };
}

/** Returns the flush and eviction intervals that differ from Envoy's defaults. */
export function statsIntervals({ bootstrap: { stats } }: AgentSettings) {
  return {
    ...(stats.flushInterval === "" ? {} : { stats_flush_interval: stats.flushInterval }),
    ...(stats.evictionInterval === "" ? {} : { stats_eviction_interval: stats.evictionInterval }),
  };
}

/** Builds `stats_sinks` for the metrics service and statsd; returns an empty object if neither is configured. */
export function statsSinks({ proxy, proxyConfig, bootstrap }: AgentSettings) {
  const metrics = {
    name: "envoy.stat_sinks.metrics_service",
    typed_config: {
      "@type": envoyType("config.metrics.v3.MetricsServiceConfig"),
      transport_api_version: "V3",
      grpc_service: { envoy_grpc: { cluster_name: "envoy_metrics_service" } },
    },
  };
  const statsd = {
    name: "envoy.stat_sinks.statsd",
    typed_config: {
      "@type": envoyType("config.metrics.v3.StatsdSink"),
      address: { socket_address: socketAddress(proxy.statsdUdpAddress, bootstrap.hostIp) },
    },
  };
  const sinks = [
    ...(remoteService(proxyConfig.data, "envoyMetricsService") === undefined ? [] : [metrics]),
    ...(proxy.statsdUdpAddress === "" ? [] : [statsd]),
  ];
  return sinks.length === 0 ? {} : { stats_sinks: sinks };
}

/** Returns a remote service from the proxy configuration; `undefined` if the service has no address. */
export function remoteService(data: ValueMap, name: "envoyMetricsService" | "envoyAccessLogService") {
  const service = mapAt(data, name);
  const old = name === "envoyMetricsService" ? textAt(data, "envoyMetricsServiceAddress") : "";
  const address = textAt(service, "address") || old;
  if (address === "") return undefined;
  const { tlsSettings: tls, tcpKeepalive } = service;
  return { address, tls, connection: isMap(tcpKeepalive) ? { tcp_keepalive: keepalive(tcpKeepalive) } : undefined };
}

/**
 * Returns the keepalive settings. As in Istio, each number is an object such as `{"value": 3}`, which Envoy accepts.
 * Source: Istio's option.keepaliveConverter.
 */
export function keepalive({ probes, time, interval }: ValueMap): ValueMap {
  return {
    ...wrapped("keepalive_probes", Number(probes ?? 0)),
    ...wrapped("keepalive_time", seconds(time)),
    ...wrapped("keepalive_interval", seconds(interval)),
  };
}

function wrapped(name: string, value: number): ValueMap {
  return value > 0 ? { [name]: { value } } : {};
}

function seconds(value: Value | undefined): number {
  return typeof value === "string" ? Math.trunc(Number(value.replace(/s$/, ""))) : 0;
}
