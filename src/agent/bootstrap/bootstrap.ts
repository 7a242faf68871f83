/**
 * Builds Envoy's bootstrap as data, with the same content as Istio's. Quotes and line breaks in names are safe, because
 * no text is templated.
 */
import { parseJson } from "../../base/json.ts";
import { isMap, newMap, type ValueMap } from "../../base/value.ts";
import type { AgentSettings } from "../settings/read.ts";
import { clusters, hasSelfDiscovery } from "./parts/clusters.ts";
import { listeners } from "./parts/listeners.ts";
import { networkView } from "./parts/addresses.ts";
import { envoyType, typedStruct } from "./parts/proto_types.ts";
import { runtimeFlags } from "./parts/runtime.ts";
import { statsConfig, statsIntervals, statsSinks } from "./parts/stats.ts";
import { tracing } from "./parts/tracing.ts";

/** Builds the bootstrap, with its members in Istio's order. */
export function buildBootstrap(settings: AgentSettings): ValueMap {
  return {
    application_log_config: { log_format: settings.bootstrap.logJson ? JSON_LOG : TEXT_LOG },
    node: nodeOf(settings),
    layered_runtime: {
      layers: [{ name: "global config", static_layer: runtimeFlags(settings) }, { name: "admin", admin_layer: {} }],
    },
    bootstrap_extensions: [...(settings.bootstrap.metadataDiscovery ? [METADATA_DISCOVERY] : []), INTERNAL_LISTENER],
    ...statsIntervals(settings),
    stats_config: statsConfig(settings),
    admin: admin(settings),
    dynamic_resources: dynamicResources(settings),
    static_resources: { clusters: clusters(settings), listeners: listeners(settings) },
    overload_manager: overloadManager(settings),
    ...tracing(settings),
    ...statsSinks(settings),
    ...clusterManager(settings),
    deferred_stat_options: { enable_deferred_creation_stats: true },
  };
}

const TEXT_LOG = { text_format: "%Y-%m-%dT%T.%fZ\t%l\tenvoy %n %g:%#\t%v\tthread=%t" };
const JSON_LOG = {
  json_format: { time: "%Y-%m-%dT%T.%fZ", level: "%l", scope: "envoy %n", msg: "%j", caller: "%g:%#", thread: "%t" },
};

const METADATA_DISCOVERY = {
  name: "metadata_discovery",
  typed_config: typedStruct("istio.workload.BootstrapExtension", { config_source: { ads: {} } }),
};

const INTERNAL_LISTENER = {
  name: "envoy.bootstrap.internal_listener",
  typed_config: typedStruct("envoy.extensions.bootstrap.internal_listener.v3.InternalListener", { buffer_size_kb: 64 }),
};

function nodeOf({ node }: AgentSettings) {
  const { region, zone, subZone } = node.locality;
  return {
    id: node.id,
    cluster: node.cluster,
    locality: {
      ...(region === "" ? {} : { region }),
      ...(zone === "" ? {} : { zone }),
      ...(subZone === "" ? {} : { sub_zone: subZone }),
    },
    metadata: node.metadata,
  };
}

function admin(settings: AgentSettings) {
  return {
    access_log: [{
      name: "envoy.access_loggers.file",
      typed_config: { "@type": envoyType("extensions.access_loggers.file.v3.FileAccessLog"), path: "/dev/null" },
    }],
    profile_path: "/var/lib/istio/data/envoy.prof",
    address: { socket_address: { address: networkView(settings).localhost, port_value: settings.ports.admin } },
  };
}

function dynamicResources(settings: AgentSettings) {
  const { bootstrap } = settings;
  const byAds = { ads: {}, initial_fetch_timeout: "0s", resource_api_version: "V3" };
  return {
    lds_config: byAds,
    cds_config: byAds,
    ads_config: {
      api_type: bootstrap.deltaXds ? "DELTA_GRPC" : "GRPC",
      set_node_on_first_message_only: true,
      transport_api_version: "V3",
      grpc_services: [{ envoy_grpc: { cluster_name: "xds-grpc" }, ...headersOf(settings) }],
    },
  };
}

/** Returns the headers that the xDS proxy would add, for `--xds direct`. */
function headersOf({ bootstrap, xds }: AgentSettings) {
  const added = Object.entries(xds.headers).map(([key, value]) => ({ key, value }));
  return bootstrap.isXdsDirect && added.length > 0 ? { initial_metadata: added } : {};
}

function overloadManager({ bootstrap }: AgentSettings) {
  return {
    resource_monitors: [{
      name: "envoy.resource_monitors.global_downstream_max_connections",
      typed_config: {
        "@type": envoyType("extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig"),
        max_active_downstream_connections: bootstrap.connectionLimit,
      },
    }],
  };
}

/** Returns the member `cluster_manager`, or an empty object if it has no content, as in Istio. */
function clusterManager(settings: AgentSettings) {
  const { outlierLogPath } = settings.bootstrap;
  const loadStats = loadStatsOf(settings);
  const parts = {
    ...(hasSelfDiscovery(settings) ? { local_cluster_name: "local_cluster" } : {}),
    ...(outlierLogPath === "" ? {} : { outlier_detection: { event_log_path: outlierLogPath } }),
    ...(loadStats === undefined ? {} : { load_stats_config: loadStats }),
  };
  return Object.keys(parts).length === 0
    ? {}
    : { cluster_manager: { ...parts, enable_deferred_cluster_creation: true } };
}

/** Returns the load reporting service from `ISTIO_META_LOAD_STATS_CONFIG_JSON`. Ignores text that is not JSON. */
function loadStatsOf({ node }: AgentSettings): ValueMap | undefined {
  const text = node.metadata["LOAD_STATS_CONFIG_JSON"];
  if (typeof text !== "string") return undefined;
  const value = parseJson(text);
  return isMap(value) ? Object.assign(newMap(), value) : undefined;
}
