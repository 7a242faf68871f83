/** Named cases of Envoy's bootstrap and arguments. Istio's answers are recorded. */
import type { AgentCase } from "../../../support/cases/agent.ts";

/** A case: the settings of an agent. */
export interface NamedBootstrap {
  readonly name: string;
  /** Cases in `../shared/cases/bootstrap` that show the same feature. */
  readonly like: readonly string[];
  /** The content of PROXY_CONFIG, without the paths; `null` leaves it unset. */
  readonly config?: Readonly<Record<string, unknown>> | null;
  readonly env?: Readonly<Record<string, string>>;
  /** Flags that replace the default ones. */
  readonly flags?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly mesh?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly addresses?: readonly string[];
  readonly fails?: boolean;
  /**
   * A part of the bootstrap that is newer than the recorded pilot-agent: the recorded text, and the text of a newer
   * Istio.
   */
  readonly newer?: readonly [recorded: string, newer: string];
}

const FLAGS = "proxy sidecar --domain shop.svc.cluster.local --outlierLogPath /dev/stdout";
const BOTH = ["10.7.7.7", "2001:db8:7::7"];
const tls = {
  mode: "MUTUAL",
  clientCertificate: "/tls/c.pem",
  privateKey: "/tls/k.pem",
  caCertificates: "/tls/ca.pem",
};
const METRICS = { envoyMetricsService: { address: "metrics.example:15000", tlsSettings: tls } };
const BUSY = {
  ...METRICS,
  drainDuration: "6s",
  discoveryAddress: "control.example:15011",
  controlPlaneAuthPolicy: "MUTUAL_TLS",
  statNameLength: 199,
};
const ALL = {
  ...BUSY,
  statsdUdpAddress: "10.7.7.8:9125",
  envoyAccessLogService: { address: "logs.example:15000" },
  proxyAdminPort: 15007,
  tracing: { zipkin: { address: "zipkin.example:9411" } },
};

export const BOOTSTRAPS: readonly NamedBootstrap[] = [
  { name: "the defaults", like: ["default", "xdsproxy"] },
  { name: "all services", like: ["all"], config: ALL },
  { name: "HBONE", like: ["ambient"], env: { ISTIO_META_ENABLE_HBONE: "true" } },
  {
    name: "mutual TLS to the control plane",
    like: ["auth", "authsds"],
    config: { discoveryAddress: "istio-pilot:15011", controlPlaneAuthPolicy: "MUTUAL_TLS" },
  },
  {
    name: "mutual TLS to a local control plane",
    like: ["x_mutual_tls_localhost"],
    config: { discoveryAddress: "localhost:15012", controlPlaneAuthPolicy: "MUTUAL_TLS" },
  },
  {
    name: "mutual TLS, with the name of the control plane",
    like: ["x_mutual_tls_san"],
    config: { discoveryAddress: "istiod.mesh.svc:15012", controlPlaneAuthPolicy: "MUTUAL_TLS" },
  },
  {
    name: "values of Envoy's runtime",
    like: ["explicit_internal_address"],
    config: { runtimeValues: { "envoy.reloadable_features.explicit_internal_address_config": "true", other: "1" } },
  },
  {
    name: "a limit of connections",
    like: ["global_downstream_connection_settings"],
    config: { connectionSettings: { globalDownstreamConnectionLimit: 12000 } },
    newer: ['"max_active_downstream_connections": 2147483647', '"max_active_downstream_connections": 12000'],
  },
  {
    name: "a limit of connections by metadata",
    like: ["global_downstream_max_connections_meta"],
    config: { proxyMetadata: { ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS: "11000" } },
  },
  { name: "a metrics service", like: ["metrics_no_statsd"], config: BUSY },
  {
    name: "a pod with labels, annotations and metadata",
    like: ["running"],
    config: { ...ALL, envoyMetricsService: undefined, envoyAccessLogService: undefined },
    env: {
      POD_NAME: "shop-59fd8c4b7-x2x4z",
      POD_NAMESPACE: "trade",
      ISTIO_META_INTERCEPTION_MODE: "REDIRECT",
      ISTIO_META_POD_NAME: "shop-59fd8c4b7-x2x4z",
      ISTIO_METAJSON_LABELS: '{"version":"v2","app":"shop","istio-locality":"east.a.b"}',
    },
    annotations: { "example.com/paths": '{"paths":["/a"]}' },
  },
  {
    name: "ports of secure metrics",
    like: ["secure_metrics"],
    env: { ENVOY_SECURE_METRICS_PORT: "15093", ENVOY_SECURE_MERGED_METRICS_PORT: "15094" },
  },
  {
    name: "an interval of statistics",
    like: ["stats_flush_interval"],
    config: ALL,
    env: { ISTIO_METAJSON_ANNOTATIONS: '{"sidecar.istio.io/statsFlushInterval": "12s"}' },
    annotations: { "sidecar.istio.io/statsFlushInterval": "12s" },
  },
  {
    name: "statistics by annotations",
    like: ["stats_inclusion"],
    config: { extraStatTags: ["tag_one"] },
    env: {
      ISTIO_METAJSON_ANNOTATIONS:
        '{"sidecar.istio.io/statsInclusionPrefixes":"one,http.{pod_ip}_","sidecar.istio.io/statsInclusionSuffixes":"two,upstream_rq_2xx"}',
    },
    annotations: {
      "sidecar.istio.io/statsInclusionPrefixes": "one,http.{pod_ip}_",
      "sidecar.istio.io/statsInclusionSuffixes": "two,upstream_rq_2xx",
    },
  },
  {
    name: "statistics by settings",
    like: ["x_stats_matcher_pc"],
    config: {
      proxyStatsMatcher: {
        inclusionPrefixes: ["one", "http.{pod_ip}_"],
        inclusionSuffixes: ["two"],
        inclusionRegexps: ["t.*\\.x"],
      },
      extraStatTags: ["b", "a", "b"],
    },
  },
  {
    name: "tracing by Datadog",
    like: ["tracing_datadog"],
    config: { tracing: { datadog: { address: "dd.example:8126" } } },
  },
  { name: "no tracing", like: ["tracing_none"], config: { tracing: {} } },
  {
    name: "tracing by Zipkin",
    like: ["tracing_zipkin"],
    config: { tracing: { zipkin: { address: "z.example:9411" } } },
  },
  {
    name: "tracing to the node",
    like: ["x_tracing_hostip"],
    config: { tracing: { datadog: { address: "$(HOST_IP):8126" } } },
    env: { HOST_IP: "10.8.8.8" },
  },
  {
    name: "tracing with mutual TLS",
    like: ["x_tracing_tls_mutual"],
    config: {
      tracing: {
        zipkin: { address: "z.example:9411" },
        tlsSettings: { ...tls, subjectAltNames: ["a", "b"], sni: "z" },
      },
    },
  },
  {
    name: "tracing under the canonical name",
    like: ["x_tracing_name_canonical"],
    config: { tracingServiceName: "CANONICAL_NAME_ONLY" },
    env: { POD_NAMESPACE: "trade", ISTIO_METAJSON_LABELS: '{"app":"shop","service.istio.io/canonical-name":"store"}' },
  },
  {
    name: "the cluster's name from a label",
    like: ["x_cluster_app_label"],
    env: { POD_NAMESPACE: "trade", ISTIO_METAJSON_LABELS: '{"app":"shop"}' },
  },
  {
    name: "the cluster's name from the settings",
    like: ["x_cluster_name_explicit"],
    config: { serviceCluster: "shop.trade" },
  },
  {
    name: "the cluster's name from a flag",
    like: ["x_cluster_name_flag"],
    config: { serviceCluster: "" },
    flags: `${FLAGS} --serviceCluster shop`,
  },
  {
    name: "the cluster's name from the workload",
    like: ["x_cluster_workload"],
    env: { POD_NAMESPACE: "trade", ISTIO_META_WORKLOAD_NAME: "shop" },
  },
  { name: "a concurrency", like: ["x_concurrency"], config: { concurrency: 3 } },
  { name: "core dumps", like: ["x_core_dump"], env: { ISTIO_ENVOY_ENABLE_CORE_DUMP: "true" } },
  { name: "a limit of processors", like: ["x_cpu_limit"], env: { ISTIO_CPU_LIMIT: "5" } },
  { name: "no delta", like: ["x_delta_off"], env: { ISTIO_DELTA_XDS: "false" } },
  { name: "two families that are off", like: ["x_dual_disabled"], addresses: BOTH },
  { name: "two families", like: ["x_dual_stack"], env: { ISTIO_DUAL_STACK: "true" }, addresses: BOTH },
  {
    name: "an address without a port",
    like: ["x_invalid_discovery"],
    config: { discoveryAddress: "control" },
    fails: true,
  },
  { name: "a drain of no time", like: ["x_invalid_drain"], config: { drainDuration: "0s" }, fails: true },
  {
    name: "a drain of parts of a second",
    like: ["x_invalid_drain_ms"],
    config: { drainDuration: "2.5s" },
    fails: true,
  },
  { name: "a locality of a region", like: ["x_locality_region_only"], labels: { "istio-locality": "east" } },
  {
    name: "levels of Envoy's log",
    like: ["x_log_component"],
    flags: `${FLAGS} --proxyLogLevel=trace --proxyComponentLogLevel=upstream:info`,
  },
  { name: "a log of JSON", like: ["x_log_json"], flags: `${FLAGS} --log_as_json` },
  {
    name: "levels of Envoy's log in one flag",
    like: ["x_log_levels"],
    flags: `${FLAGS} --proxyLogLevel=debug,upstream:trace --proxyComponentLogLevel=misc:info`,
  },
  {
    name: "a mesh file below the settings",
    like: ["x_mesh_file"],
    config: { drainDuration: "13s" },
    mesh:
      "defaultConfig:\n  discoveryAddress: mesh.example:15010\n  drainDuration: 14s\n  proxyMetadata:\n    ISTIO_META_MINE: mine\n",
  },
  {
    name: "metadata of several types",
    like: ["x_meta_bools"],
    env: {
      ISTIO_META_DNS_CAPTURE: "true",
      ISTIO_META_DNS_AUTO_ALLOCATE: "true",
      ISTIO_META_UNPRIVILEGED_POD: "true",
      ISTIO_META_HTTP10: "1",
      ISTIO_META_NETWORK: "east",
      ISTIO_META_REQUESTED_NETWORK_VIEW: "east,west",
      ISTIO_META_IDLE_TIMEOUT: "40s",
    },
  },
  { name: "discovery of peers' metadata", like: ["x_metadata_discovery_on"], env: { PEER_METADATA_DISCOVERY: "true" } },
  { name: "metadata that is no JSON", like: ["x_metajson_bad"], env: { ISTIO_METAJSON_MINE: "[bad" } },
  {
    name: "metrics for the pod alone",
    like: ["x_metrics_localhost"],
    config: { proxyMetadata: { METRICS_LOCALHOST_ACCESS_ONLY: "true" } },
  },
  { name: "no log of outliers", like: ["x_no_outlier"], flags: "proxy sidecar --domain shop.svc.cluster.local" },
  {
    name: "settings from a mesh file alone",
    like: ["x_no_proxy_config_env"],
    mesh: "defaultConfig:\n  discoveryAddress: mesh.example:15010\n",
  },
  {
    name: "the flags of old releases",
    like: ["x_old_flags"],
    config: { serviceCluster: "" },
    flags:
      `${FLAGS} --configPath /a --binaryPath /b --serviceCluster shop.trade --drainDuration 44s --parentShutdownDuration 1m0s --discoveryAddress old:15010 --zipkinAddress z:9411 --connectTimeout 9s --proxyAdminPort 16001 --controlPlaneAuthPolicy NONE --statusPort 16021`,
  },
  {
    name: "a bootstrap of the user",
    like: ["x_override"],
    env: { ISTIO_BOOTSTRAP_OVERRIDE: "mine.yaml", HOST_IP: "cafe::1" },
    files: { "mine.yaml": 'node: mine\naddress: "[$(HOST_IP)]:8126"\nother: "$(HOST_IP):8126"\n' },
  },
  {
    name: "other ports",
    like: ["x_ports"],
    config: { proxyAdminPort: 17000, statusPort: 17020 },
    env: { ENVOY_STATUS_PORT: "17021", ENVOY_PROMETHEUS_PORT: "17090" },
  },
  {
    name: "the PROXY protocol on the status port",
    like: ["x_proxy_protocol"],
    env: { ENVOY_STATUS_PORT_ENABLE_PROXY_PROTOCOL: "true" },
  },
  { name: "a router", like: ["x_router"], flags: "proxy router --domain shop.svc.cluster.local" },
  { name: "discovery of itself", like: ["x_self_discovery"], env: { ISTIO_META_ENABLE_SELF_DISCOVERY: "true" } },
  { name: "logs of deprecated fields", like: ["x_skip_deprecated_off"], env: { ENVOY_SKIP_DEPRECATED_LOGS: "false" } },
  { name: "StatsD alone", like: ["x_statsd_only"], config: { statsdUdpAddress: "10.7.7.8:8125" } },
  {
    name: "StatsD at a name that is none",
    like: ["x_statsd_unresolvable"],
    config: { statsdUdpAddress: "none.invalid:8125" },
  },
  {
    name: "fragments of paths stay",
    like: ["x_strip_fragment_off"],
    env: { HTTP_STRIP_FRAGMENT_FROM_PATH_UNSAFE_IF_DISABLED: "false" },
  },
  { name: "a server of tokens", like: ["x_sts"], flags: `${FLAGS} --stsPort 15464` },
  {
    name: "a template of the user, of YAML",
    like: ["x_template_yaml"],
    flags: `${FLAGS} --templateFile mine.yaml.tmpl`,
    files: { "mine.yaml.tmpl": "node:\n  id: {{ .nodeID }}\n  cluster: {{ .cluster }}\nadmin: {}\n" },
  },
  { name: "a role that does not exist", like: ["x_type_bogus"], flags: "proxy nothing", fails: true },
  { name: "a role that no longer exists", like: ["x_type_ingress"], flags: "proxy ingress", fails: true },
  {
    name: "fields that are unknown or old",
    like: ["x_unknown_pc_field"],
    config: { noSuchField: 2, parentShutdownDuration: "11s", connectTimeout: "2s" },
  },
];

const PATHS = { configPath: "./etc/istio/proxy", binaryPath: "@FAKE_ENVOY@" };

/** Returns the cases as questions. */
export function namedBootstraps(): AgentCase[] {
  return BOOTSTRAPS.map(({ config = {}, env, flags = FLAGS, labels, annotations, mesh, files, addresses }) => ({
    flags: flags.split(" "),
    env: {
      CLOUD_PLATFORM: "none",
      CA_ADDR: "127.0.0.1:15010",
      INSTANCE_IP: "10.7.7.9",
      POD_NAME: "shop",
      POD_NAMESPACE: "",
      ISTIO_META_ISTIO_VERSION: "1.31.1",
      ...env,
      ...config === null
        ? {}
        : { PROXY_CONFIG: JSON.stringify({ ...PATHS, discoveryAddress: "istio-pilot:15010", ...config }) },
    },
    labels: labels ?? null,
    annotations: annotations ?? null,
    mesh: mesh ?? null,
    files: files ?? null,
    netns_ips: addresses ?? ["10.7.7.7"],
  }));
}
