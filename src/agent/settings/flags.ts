/**
 * Every flag of `agent` and of `pilot-agent proxy`: those of today, those of Istio 1.0 to 1.7, and our own. Source:
 * pilot-agent's cmd.go of the releases.
 */
import { type FlagGroups, type FlagNames, type FlagTable, flagTable } from "../../core/command/mod.ts";

const GONE = "no proxy of today has it";

/** Flags of Istio 1.0 to 1.5: they count where no `PROXY_CONFIG` is given, which came with 1.6. */
export const OLD_FLAGS = {
  configPath: { name: "configPath", type: "text", doc: "Folder of the generated bootstrap" },
  binaryPath: { name: "binaryPath", type: "file", doc: "Envoy's binary" },
  drainDuration: { name: "drainDuration", type: "duration", doc: "How long Envoy drains connections" },
  parentShutdownDuration: {
    name: "parentShutdownDuration",
    type: "duration",
    doc: "When the old Envoy of a hot restart ends",
  },
  discoveryAddress: { name: "discoveryAddress", type: "address", doc: "Address of the control plane" },
  zipkinAddress: { name: "zipkinAddress", type: "address", doc: "Address of a Zipkin collector" },
  lightstepAddress: { name: "lightstepAddress", type: "address", doc: "Address of a LightStep collector" },
  lightstepAccessToken: { name: "lightstepAccessToken", type: "text", doc: "Access token of LightStep" },
  lightstepSecure: { name: "lightstepSecure", type: "boolean", doc: "Whether LightStep is reached by TLS" },
  lightstepCacertPath: { name: "lightstepCacertPath", type: "text", doc: "Root certificates of LightStep" },
  datadogAgentAddress: { name: "datadogAgentAddress", type: "address", doc: "Address of a Datadog agent" },
  statsdUdpAddress: { name: "statsdUdpAddress", type: "address", doc: "Address of a statsd server" },
  envoyMetricsServiceAddress: {
    name: "envoyMetricsServiceAddress",
    type: "address",
    doc: "Address of a metrics service",
  },
  envoyMetricsService: { name: "envoyMetricsService", type: "text", doc: "Metrics service, as JSON" },
  envoyAccessLogService: { name: "envoyAccessLogService", type: "text", doc: "Access log service, as JSON" },
  proxyAdminPort: { name: "proxyAdminPort", type: "port", least: 0, doc: "Port of Envoy's admin interface" },
  controlPlaneAuthPolicy: { name: "controlPlaneAuthPolicy", type: "text", doc: "NONE or MUTUAL_TLS" },
  customConfigFile: { name: "customConfigFile", type: "file", doc: "Envoy's bootstrap, used as it is" },
  statusPort: { name: "statusPort", type: "port", least: 0, doc: "Port of the status server" },
} as const satisfies FlagTable;

const RETIRED_FLAGS = {
  trustDomain: { retired: "", name: "trust-domain", type: "text", doc: "Trust domain" },
  tokenManagerPlugin: { retired: "", name: "tokenManagerPlugin", type: "text", doc: "Token service" },
  profiling: { retired: "", name: "profiling", type: "boolean", doc: "Profiling of pilot-agent" },
  applicationPorts: { retired: "", name: "applicationPorts", type: "text", doc: "Ports that readiness once asked for" },
  connectTimeout: { retired: "", name: "connectTimeout", type: "duration", doc: "Connect timeout of 1.0 to 1.5" },
  dnsRefreshRate: { retired: "", name: "dnsRefreshRate", type: "duration", doc: "DNS refresh rate of 1.2 to 1.5" },
  discoveryRefreshDelay: { retired: "", name: "discoveryRefreshDelay", type: "duration", doc: "Polling of 1.0" },
  mixerIdentity: { retired: "", name: "mixerIdentity", type: "text", doc: "Identity of Mixer" },
  disableInternalTelemetry: {
    retired: "",
    name: "disableInternalTelemetry",
    type: "boolean",
    doc: "Telemetry of 1.0 to 1.7",
  },
  bootstrapv2: { retired: "", name: "bootstrapv2", type: "boolean", doc: "Bootstrap of 1.0" },
  availabilityZone: {
    name: "availabilityZone",
    type: "text",
    retired: `${GONE}: use the label topology.istio.io/locality`,
    doc: "Zone of 1.0",
  },
  controlPlaneBootstrap: {
    name: "controlPlaneBootstrap",
    type: "boolean",
    retired: `${GONE}: --templateFile is always rendered as a bootstrap`,
    doc: "Bootstrap of the control plane of 1.1 to 1.5",
  },
  logTarget: { retired: "", name: "log_target", type: "list", doc: "The log goes to stderr" },
  logCaller: { retired: "", name: "log_caller", type: "text", doc: "Scopes that name the caller" },
  logStack: { retired: "", name: "log_stacktrace_level", type: "text", doc: "Levels with a stack" },
  logRotate: { retired: "", name: "log_rotate", type: "text", doc: "File of the log" },
  logRotateAge: { retired: "", name: "log_rotate_max_age", type: "integer", doc: "Age of log files" },
  logRotateBackups: { retired: "", name: "log_rotate_max_backups", type: "integer", doc: "Number of log files" },
  logRotateSize: { retired: "", name: "log_rotate_max_size", type: "integer", doc: "Size of log files" },
  vklog: { retired: "", name: "vklog", type: "integer", doc: "Level of Kubernetes' log" },
} as const satisfies FlagTable;

/** All flags, by their titles in the help. */
export const FLAG_GROUPS = {
  "Flags": {
    domain: {
      name: "domain",
      type: "text",
      default: "$POD_NAMESPACE.svc.cluster.local",
      doc: "DNS domain of the pod, the last part of the proxy's node id",
    },
    meshConfig: {
      name: "meshConfig",
      type: "file",
      default: "./etc/istio/config/mesh",
      doc: "File with a mesh configuration, read if it is there",
    },
    serviceCluster: {
      name: "serviceCluster",
      type: "text",
      default: "istio-proxy",
      doc: "Name of the service, where the proxy configuration has none",
    },
    proxyLogLevel: {
      name: "proxyLogLevel",
      type: "text",
      default: "warning",
      doc: "Envoy's log level, with those of components: info,misc:error,upstream:debug",
    },
    proxyComponentLogLevel: {
      name: "proxyComponentLogLevel",
      type: "text",
      doc: "Log levels of Envoy's components, where --proxyLogLevel names none",
    },
    concurrency: { name: "concurrency", type: "integer", doc: "Envoy's worker threads; 0 takes the configured number" },
    templateFile: { name: "templateFile", type: "file", doc: "Go template of the bootstrap" },
    outlierLogPath: { name: "outlierLogPath", type: "file", doc: "Where Envoy logs outlier detection" },
    stsPort: { name: "stsPort", type: "port", least: 0, doc: "Port of a token service, for the node's metadata" },
    watch: {
      name: "watch",
      type: "boolean",
      doc: "Start a new Envoy when its configuration or certificate files change; the old one drains (hot restart)",
    },
    hotRestart: {
      name: "hot-restart",
      type: "boolean",
      doc: "Let SIGHUP start a new Envoy while the old one drains; --watch has it too",
    },
    restart: {
      name: "restart",
      type: "text",
      allowed: ["never", "on-failure"],
      default: "never",
      doc: "Whether Envoy is started again, with back-off, when it ends with an error",
    },
    xds: {
      name: "xds",
      type: "text",
      allowed: ["agent", "direct"],
      default: "agent",
      doc: "How Envoy connects to the control plane: through the agent, or by TLS of its own",
    },
    maximumDrain: {
      name: "maximum-drain-duration",
      type: "duration",
      doc: "Longest drain with EXIT_ON_ZERO_ACTIVE_CONNECTIONS, instead of MAXIMUM_DRAIN_DURATION",
    },
    baseId: {
      name: "base-id",
      type: "integer",
      doc: "Envoy's base id, which differs between Envoys on one machine",
    },
    nodeId: { name: "id", type: "text", doc: "Node id, instead of POD_NAME.POD_NAMESPACE" },
    nodeIp: { name: "ip", type: "address", doc: "Address of the pod, instead of INSTANCE_IP" },
    serviceRegistry: {
      name: "serviceregistry",
      type: "text",
      default: "Kubernetes",
      doc: "Platform that node id and domain are made for: Kubernetes, Consul or another",
    },
    pilotIdentity: { name: "pilotIdentity", type: "text", doc: "Identity of the control plane" },
  },
  "Log": {
    logFormat: {
      name: "log-format",
      type: "text",
      allowed: ["text", "json"],
      doc: "Form of the log, instead of MESH_LOG_FORMAT; json is Envoy's log too",
    },
    logLevel: {
      name: "log-level",
      type: "text",
      value: "LEVEL",
      allowed: ["debug", "info", "warning", "error"],
      doc: "Least level of the log: debug, info, warning or error",
    },
    istioLogLevel: {
      name: "log_output_level",
      type: "list",
      value: "SCOPE:LEVEL",
      default: "default:info,grpc:none",
      doc: "Istio's levels of the log by scope; the scope all means every scope",
    },
    istioLogJson: { name: "log_as_json", type: "boolean", doc: "The same as --log-format json" },
  },
  "Flags of Istio 1.0 to 1.5, where no PROXY_CONFIG is given": OLD_FLAGS,
  "Retired": RETIRED_FLAGS,
} as const satisfies FlagGroups;

/** The key of a flag in the table. */
export type FlagName = FlagNames<typeof FLAG_GROUPS>;

/** All flags by their keys. */
export const FLAGS: FlagTable<FlagName> = flagTable(FLAG_GROUPS);

/** What a proxy is: the first word of the command line. Source: Istio's model.NodeType. */
export const ROLES = ["sidecar", "router", "waypoint", "ztunnel", "agentgateway"] as const;
export type Role = typeof ROLES[number];

/** Whether a word is a role. */
export function isRole(word: string): word is Role {
  return ROLES.some((role) => role === word);
}
