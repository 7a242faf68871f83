/** Collects the parameters of bootstrap templates. Source: Istio's bootstrap.Config.toTemplateParams. */
import { goJson, OrderedFields } from "../../golang/go_json.ts";
import { type GoMap, GoStruct, type GoValue, typed } from "../../golang/go_value.ts";
import { proxyConfigView } from "../../istio/mod.ts";
import { isList, isMap, mapAt, type Value, type ValueMap } from "../../base/value.ts";
import { FILES_SOCKET } from "../settings/pod/pod.ts";
import type { AgentSettings } from "../settings/read.ts";
import { hasSelfDiscovery } from "./parts/clusters.ts";
import { networkView, socketAddress } from "./parts/addresses.ts";
import { runtimeFlags } from "./parts/runtime.ts";
import { remoteService } from "./parts/stats.ts";
import { tlsSocket } from "./parts/tls.ts";
import { lightstepTokenFile, tracerOf } from "./parts/tracing.ts";
import { TYPED_FIELDS, type TypedField, type TypedKind } from "../settings/node/typed_fields.ts";

/** Returns the parameters by name. Like Istio, leaves out empty values. */
export function templateParams(settings: AgentSettings): GoMap {
  const params = {
    ...nodeParams(settings),
    ...networkParams(settings),
    ...statsParams(settings),
    ...serviceParams(settings),
    ...tracingParams(settings),
    config: proxyConfigView(settings.proxyConfig),
    metadata: new MetadataView(settings),
    runtime_flags: goJson(runtimeFlags(settings)),
    xds_type: settings.bootstrap.deltaXds ? "DELTA_GRPC" : "GRPC",
    metadata_discovery: settings.bootstrap.metadataDiscovery,
    log_json: settings.bootstrap.logJson,
    enable_self_discovery: hasSelfDiscovery(settings),
    global_downstream_max_connections: String(settings.bootstrap.connectionLimit),
    workload_identity_socket_file: settings.bootstrap.identitySocket,
    custom_file_path: settings.bootstrap.hasCustomSds ? FILES_SOCKET : "",
    xds_root_cert: settings.bootstrap.xdsRootCert,
    discovery_address: settings.proxy.discoveryAddress,
    discovery_host: settings.proxy.discoveryAddress.split(":")[0] ?? "",
  };
  return withoutUndefined(params);
}

type Params = Readonly<Record<string, GoValue | undefined>>;

function withoutUndefined(params: Params): GoMap {
  const present: Record<string, GoValue> = Object.create(null);
  for (const [key, value] of Object.entries(params)) if (value !== undefined) present[key] = value;
  return present;
}

function nonEmpty(text: string): string | undefined {
  return text === "" ? undefined : text;
}

function nodeParams({ node, role, bootstrap }: AgentSettings): Params {
  const platform = mapAt(node.typedMetadata, "PLATFORM_METADATA");
  const sts = node.typedMetadata["STS_PORT"];
  const names = node.typedMetadata["PILOT_SAN"];
  const ofPlatform = (key: string) => nonEmpty(String(platform[key] ?? ""));
  const loadStats = node.metadata["LOAD_STATS_CONFIG_JSON"];
  return {
    nodeID: node.id,
    nodeType: role,
    cluster: node.cluster,
    region: nonEmpty(node.locality.region),
    zone: nonEmpty(node.locality.zone),
    sub_zone: nonEmpty(node.locality.subZone),
    meta_json_str: goJson(node.metadata),
    pilot_SAN: goJson((Array.isArray(names) ? names : []).map((exact) => ({ exact }))),
    outlier_log_path: nonEmpty(bootstrap.outlierLogPath),
    gcp_project_number: ofPlatform("gcp_project_number"),
    gcp_project_id: sts === undefined ? undefined : ofPlatform("gcp_project"),
    sts: sts === undefined ? undefined : true,
    sts_port: sts === undefined ? undefined : BigInt(Number(sts)),
    load_stats_config_json_str: typeof loadStats === "string" ? loadStats : undefined,
  };
}

function networkParams(settings: AgentSettings): Params {
  const { localhost, wildcard, additional, dnsLookupFamily } = networkView(settings);
  const { ports, bootstrap } = settings;
  return {
    localhost,
    wildcard,
    additional_localhost: additional?.localhost,
    additional_wildcard: additional?.wildcard,
    dual_stack: additional === undefined ? undefined : true,
    dns_lookup_family: dnsLookupFamily,
    envoy_status_port: BigInt(ports.envoyStatus),
    envoy_prometheus_port: BigInt(ports.prometheus),
    secure_metrics_port: BigInt(ports.secureMetrics),
    secure_merged_metrics_port: BigInt(ports.secureMergedMetrics),
    envoy_status_port_enable_proxy_protocol: bootstrap.statusProxyProtocol ? true : undefined,
    metrics_localhost_access_only: settings.proxy.proxyMetadata["METRICS_LOCALHOST_ACCESS_ONLY"] === "true",
  };
}

function statsParams({ bootstrap: { stats } }: AgentSettings): Params {
  const texts = (list: readonly string[]) => list.length === 0 ? undefined : typed([...list], "[]string");
  return {
    inclusionPrefix: texts(stats.prefixes),
    inclusionSuffix: texts(stats.suffixes),
    inclusionRegexps: texts(stats.regexps),
    extraStatTags: texts(stats.extraTags),
    histogram_buckets: stats.histogramBuckets.map(({ prefix, buckets }) =>
      new OrderedFields([["match", { prefix }], ["buckets", buckets]])
    ),
    envoy_metrics_stats_compression: stats.compression,
    stats_flush_interval: nonEmpty(stats.flushInterval),
    stats_eviction_interval: nonEmpty(stats.evictionInterval),
  };
}

function serviceParams(settings: AgentSettings): Params {
  const { proxy } = settings;
  return {
    pilot_grpc_address: addressText(settings, proxy.discoveryAddress),
    statsd: addressText(settings, proxy.statsdUdpAddress),
    ...serviceOf(settings, "envoyMetricsService", "envoy_metrics_service"),
    ...serviceOf(settings, "envoyAccessLogService", "envoy_accesslog_service"),
  };
}

function addressText({ bootstrap }: AgentSettings, text: string): string | undefined {
  if (text === "") return undefined;
  const { address, port_value } = socketAddress(text, bootstrap.hostIp);
  return `{"address": ${JSON.stringify(address)}, "port_value": ${port_value}}`;
}

function serviceOf(
  settings: AgentSettings,
  field: "envoyMetricsService" | "envoyAccessLogService",
  name: string,
): Params {
  const remote = remoteService(settings.proxyConfig.data, field);
  if (remote === undefined) return {};
  return {
    [`${name}_address`]: addressText(settings, remote.address),
    [`${name}_tls`]: tlsText(settings, remote.tls, name, true),
    [`${name}_tcp_keepalive`]: remote.connection && JSON.stringify(remote.connection),
  };
}

function tlsText(settings: AgentSettings, tls: Value | undefined, sni: string, isHttp2: boolean): string | undefined {
  const socket = tlsSocket(tls, { sni, isHttp2, metadata: settings.node.typedMetadata });
  return socket === undefined ? undefined : goJson(socket);
}

function tracingParams(settings: AgentSettings): Params {
  const tracer = tracerOf(settings);
  if (tracer === undefined) return stackdriverParams(settings);
  const isLightstep = tracer.kind.field === "lightstep";
  return {
    [tracer.kind.field]: addressText(settings, tracer.address),
    lightstepToken: isLightstep ? lightstepTokenFile(settings) : undefined,
    tracing_tls: tlsText(settings, tracer.tlsSettings, "tracer", tracer.kind.isHttp2),
  };
}

const DEFAULT_MAX = 200;

/**
 * Returns the parameters for Stackdriver. Envoy no longer has a Stackdriver driver, but a template may still use the
 * parameters.
 */
function stackdriverParams({ proxyConfig, node }: AgentSettings): Params {
  const { stackdriver } = mapAt(proxyConfig.data, "tracing");
  if (!isMap(stackdriver)) return {};
  const limit = (key: string) => BigInt(Number(stackdriver[key] ?? DEFAULT_MAX));
  return {
    stackdriver: true,
    stackdriverProjectID: String(mapAt(node.typedMetadata, "PLATFORM_METADATA")["gcp_project"] ?? ""),
    stackdriverDebug: stackdriver["debug"] === true,
    stackdriverMaxAnnotations: limit("maxNumberOfAnnotations"),
    stackdriverMaxAttributes: limit("maxNumberOfAttributes"),
    stackdriverMaxEvents: limit("maxNumberOfMessageEvents"),
  };
}

const BY_GO_NAME = new Map<string, TypedField>(TYPED_FIELDS.map((field) => [field.go, field]));

type View = (value: Value | undefined, settings: AgentSettings) => GoValue;

const VIEWS: Readonly<Record<TypedKind, View>> = {
  text: (value) => typeof value === "string" ? value : "",
  bool: (value) => value === "true",
  int: (value) => BigInt(typeof value === "number" ? value : 0),
  list: (value) => typed(typeof value === "string" ? value.split(",") : [], "model.StringList"),
  ports: (value) => typeof value === "string" ? value : "",
  texts: (value) => typed(isList(value) ? value.map(String) : [], "[]string"),
  textMap: (value) => typed(isMap(value) ? value : {}, "map[string]string"),
  config: (_value, settings) => proxyConfigView(settings.proxyConfig),
};

export class MetadataView extends GoStruct {
  override readonly goType = "*model.BootstrapNodeMetadata";

  constructor(private readonly settings: AgentSettings) {
    super();
  }

  override get(name: string): GoValue | undefined {
    const field = BY_GO_NAME.get(name);
    if (field === undefined) return undefined;
    return VIEWS[field.kind](this.#data[field.key], this.settings);
  }

  override fieldNames(): readonly string[] {
    return TYPED_FIELDS.map(({ go }) => go);
  }

  override toJSONValue(): GoValue {
    return this.#data;
  }

  get #data(): ValueMap {
    return this.settings.node.typedMetadata;
  }
}
