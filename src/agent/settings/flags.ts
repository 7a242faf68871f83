/**
 * Every flag of `agent` and of `pilot-agent proxy`: those of today, those of Istio 1.0 to 1.7, and our own. One table that
 * the parser, the help text and the messages read. Source: pilot-agent's cmd.go of the releases.
 */

/** How the text of a flag is read before it is checked. A `bool` takes a value only behind `=`. */
export type FlagKind = "text" | "bool" | "int" | "port" | "duration";

export interface Flag {
  /** Without dashes. */
  readonly long: string;
  readonly kind: FlagKind;
  readonly doc: string;
  /** What help texts call the default; `""` for none. */
  readonly fallback: string;
  /** Of Istio 1.0 to 1.5: it counts where no `PROXY_CONFIG` is given, which came with 1.6. */
  readonly old?: true;
  /** Set: it is read and does nothing; why, `""` if that is worth no word. */
  readonly retired?: string;
  /** May be given again, each adds. */
  readonly repeatable?: true;
}

const SILENT = { fallback: "", retired: "" } as const;
const OLD = { fallback: "", old: true } as const;
const GONE = "no proxy of today has it";

export const FLAGS = {
  domain: {
    long: "domain",
    kind: "text",
    fallback: "$POD_NAMESPACE.svc.cluster.local",
    doc: "DNS domain of the pod, the last part of the proxy's node id",
  },
  meshConfig: {
    long: "meshConfig",
    kind: "text",
    fallback: "./etc/istio/config/mesh",
    doc: "File with a mesh configuration, read if it is there",
  },
  serviceCluster: {
    long: "serviceCluster",
    kind: "text",
    fallback: "istio-proxy",
    doc: "Name of the service, where the proxy configuration has none",
  },
  proxyLogLevel: {
    long: "proxyLogLevel",
    kind: "text",
    fallback: "warning",
    doc: "Envoy's log level, with those of components: info,misc:error,upstream:debug",
  },
  proxyComponentLogLevel: {
    long: "proxyComponentLogLevel",
    kind: "text",
    fallback: "",
    doc: "Log levels of Envoy's components, where --proxyLogLevel names none",
  },
  concurrency: { long: "concurrency", kind: "int", fallback: "0", doc: "Envoy's worker threads; 0: as configured" },
  templateFile: { long: "templateFile", kind: "text", fallback: "", doc: "Go template of the bootstrap" },
  outlierLogPath: { long: "outlierLogPath", kind: "text", fallback: "", doc: "Where Envoy logs outlier detection" },
  stsPort: { long: "stsPort", kind: "port", fallback: "0", doc: "Port of a token service, for the node's metadata" },
  watch: {
    long: "watch",
    kind: "bool",
    fallback: "false",
    doc: "Start a new Envoy when its configuration or certificate files change; the old one drains (hot restart)",
  },
  hotRestart: {
    long: "hot-restart",
    kind: "bool",
    fallback: "false",
    doc: "Let SIGHUP start a new Envoy while the old one drains; --watch has it too",
  },
  restart: {
    long: "restart",
    kind: "text",
    fallback: "never",
    doc: "never, or on-failure: start Envoy again when it ends with an error, with back-off",
  },
  xds: {
    long: "xds",
    kind: "text",
    fallback: "agent",
    doc: "How Envoy comes to the control plane: through the agent, or direct, by TLS of its own",
  },
  maximumDrain: {
    long: "maximum-drain-duration",
    kind: "duration",
    fallback: "",
    doc: "Longest drain with EXIT_ON_ZERO_ACTIVE_CONNECTIONS, instead of MAXIMUM_DRAIN_DURATION",
  },
  baseId: {
    long: "base-id",
    kind: "int",
    fallback: "0",
    doc: "Envoy's base id, to tell apart Envoys that restart hot",
  },
  logFormat: { long: "log-format", kind: "text", fallback: "", doc: "text or json; json is Envoy's log too" },
  logLevel: { long: "log-level", kind: "text", fallback: "", doc: "debug, info, warning or error" },
  istioLogLevel: {
    long: "log_output_level",
    kind: "text",
    fallback: "default:info,grpc:none",
    doc: "Istio's log levels by scope; all: stands for every scope",
    repeatable: true,
  },
  istioLogJson: { long: "log_as_json", kind: "bool", fallback: "false", doc: "The same as --log-format json" },
  help: { long: "help", kind: "bool", fallback: "false", doc: "Print this text" },

  configPath: { ...OLD, long: "configPath", kind: "text", doc: "Folder of the generated bootstrap" },
  binaryPath: { ...OLD, long: "binaryPath", kind: "text", doc: "Envoy's binary" },
  drainDuration: { ...OLD, long: "drainDuration", kind: "duration", doc: "How long Envoy drains connections" },
  parentShutdownDuration: {
    ...OLD,
    long: "parentShutdownDuration",
    kind: "duration",
    doc: "When the old Envoy of a hot restart ends",
  },
  discoveryAddress: { ...OLD, long: "discoveryAddress", kind: "text", doc: "Address of the control plane" },
  zipkinAddress: { ...OLD, long: "zipkinAddress", kind: "text", doc: "Address of a Zipkin collector" },
  lightstepAddress: { ...OLD, long: "lightstepAddress", kind: "text", doc: "Address of a LightStep collector" },
  lightstepAccessToken: { ...OLD, long: "lightstepAccessToken", kind: "text", doc: "Access token of LightStep" },
  lightstepSecure: { ...OLD, long: "lightstepSecure", kind: "bool", doc: "Whether LightStep is reached by TLS" },
  lightstepCacertPath: { ...OLD, long: "lightstepCacertPath", kind: "text", doc: "Root certificates of LightStep" },
  datadogAgentAddress: { ...OLD, long: "datadogAgentAddress", kind: "text", doc: "Address of a Datadog agent" },
  statsdUdpAddress: { ...OLD, long: "statsdUdpAddress", kind: "text", doc: "Address of a statsd server" },
  envoyMetricsServiceAddress: {
    ...OLD,
    long: "envoyMetricsServiceAddress",
    kind: "text",
    doc: "Address of a metrics service",
  },
  envoyMetricsService: { ...OLD, long: "envoyMetricsService", kind: "text", doc: "Metrics service, as JSON" },
  envoyAccessLogService: { ...OLD, long: "envoyAccessLogService", kind: "text", doc: "Access log service, as JSON" },
  proxyAdminPort: { ...OLD, long: "proxyAdminPort", kind: "port", doc: "Port of Envoy's admin interface" },
  controlPlaneAuthPolicy: { ...OLD, long: "controlPlaneAuthPolicy", kind: "text", doc: "NONE or MUTUAL_TLS" },
  customConfigFile: { ...OLD, long: "customConfigFile", kind: "text", doc: "Envoy's bootstrap, used as it is" },
  statusPort: { ...OLD, long: "statusPort", kind: "port", doc: "Port of the status server" },

  nodeId: { long: "id", kind: "text", fallback: "", doc: "Node id, instead of POD_NAME.POD_NAMESPACE" },
  nodeIp: { long: "ip", kind: "text", fallback: "", doc: "Address of the pod, instead of INSTANCE_IP" },
  serviceRegistry: {
    long: "serviceregistry",
    kind: "text",
    fallback: "Kubernetes",
    doc: "Platform that node id and domain are made for: Kubernetes, Consul or another",
  },
  pilotIdentity: { long: "pilotIdentity", kind: "text", fallback: "", doc: "Identity of the control plane" },
  trustDomain: { ...SILENT, long: "trust-domain", kind: "text", doc: "Trust domain" },
  tokenManagerPlugin: { ...SILENT, long: "tokenManagerPlugin", kind: "text", doc: "Token service" },
  profiling: { ...SILENT, long: "profiling", kind: "bool", doc: "Profiling of pilot-agent" },
  applicationPorts: { ...SILENT, long: "applicationPorts", kind: "text", doc: "Ports that readiness once asked for" },
  connectTimeout: { ...SILENT, long: "connectTimeout", kind: "duration", doc: "Connect timeout of 1.0 to 1.5" },
  dnsRefreshRate: { ...SILENT, long: "dnsRefreshRate", kind: "duration", doc: "DNS refresh rate of 1.2 to 1.5" },
  discoveryRefreshDelay: { ...SILENT, long: "discoveryRefreshDelay", kind: "duration", doc: "Polling of 1.0" },
  mixerIdentity: { ...SILENT, long: "mixerIdentity", kind: "text", doc: "Identity of Mixer" },
  disableInternalTelemetry: {
    ...SILENT,
    long: "disableInternalTelemetry",
    kind: "bool",
    doc: "Telemetry of 1.0 to 1.7",
  },
  bootstrapv2: { ...SILENT, long: "bootstrapv2", kind: "bool", doc: "Bootstrap of 1.0" },
  availabilityZone: {
    long: "availabilityZone",
    kind: "text",
    fallback: "",
    retired: `${GONE}: use the label topology.istio.io/locality`,
    doc: "Zone of 1.0",
  },
  controlPlaneBootstrap: {
    long: "controlPlaneBootstrap",
    kind: "bool",
    fallback: "",
    retired: `${GONE}: --templateFile is always rendered as a bootstrap`,
    doc: "Bootstrap of the control plane of 1.1 to 1.5",
  },
  logTarget: { ...SILENT, long: "log_target", kind: "text", doc: "The log goes to stderr", repeatable: true },
  logCaller: { ...SILENT, long: "log_caller", kind: "text", doc: "Scopes that name the caller" },
  logStack: { ...SILENT, long: "log_stacktrace_level", kind: "text", doc: "Levels with a stack" },
  logRotate: { ...SILENT, long: "log_rotate", kind: "text", doc: "File of the log" },
  logRotateAge: { ...SILENT, long: "log_rotate_max_age", kind: "int", doc: "Age of log files" },
  logRotateBackups: { ...SILENT, long: "log_rotate_max_backups", kind: "int", doc: "Number of log files" },
  logRotateSize: { ...SILENT, long: "log_rotate_max_size", kind: "int", doc: "Size of log files" },
  vklog: { ...SILENT, long: "vklog", kind: "int", doc: "Level of Kubernetes' log" },
} as const satisfies Readonly<Record<string, Flag>>;

/** The key of a flag in the table. */
export type FlagName = keyof typeof FLAGS;

function isFlagName(name: string): name is FlagName {
  return Object.hasOwn(FLAGS, name);
}

/** The table as a list, in its order. */
export const FLAG_LIST: readonly (readonly [FlagName, Flag])[] = Object.keys(FLAGS).filter(isFlagName)
  .map((name) => [name, FLAGS[name]]);

/** What a proxy is: the first word of the command line. Source: Istio's model.NodeType. */
export const ROLES = ["sidecar", "router", "waypoint", "ztunnel", "agentgateway"] as const;
export type Role = typeof ROLES[number];

/** Whether a word is a role. */
export function isRole(word: string): word is Role {
  return ROLES.some((role) => role === word);
}
