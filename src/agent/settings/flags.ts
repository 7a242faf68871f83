/**
 * Every flag of `agent` and of `pilot-agent proxy`: today's flags, flags of Istio 1.0 to 1.7, and this program's own.
 * Source: pilot-agent's cmd.go of the releases.
 */
import { flag, type FlagGroups, type FlagNames, type FlagTable, flagTable } from "../../golang/flags/mod.ts";

const GONE = "current proxies lack this feature";
const ROTATE = "the log goes to stderr: the container runtime rotates it";

/** Flags of Istio 1.0 to 1.5. They apply only if `PROXY_CONFIG`, which Istio has set since 1.6, is missing. */
export const OLD_FLAGS = {
  configPath: flag("--configPath TEXT", "Folder of the generated bootstrap"),
  binaryPath: flag("--binaryPath FILE", "Envoy's binary", { type: "file" }),
  drainDuration: flag("--drainDuration TIME", "Time that Envoy drains connections", { type: "duration" }),
  parentShutdownDuration: flag("--parentShutdownDuration TIME", "Time until the old Envoy ends after a hot restart", {
    type: "duration",
  }),
  discoveryAddress: flag("--discoveryAddress ADDRESS", "Address of the control plane", { type: "address" }),
  zipkinAddress: flag("--zipkinAddress ADDRESS", "Address of a Zipkin collector", { type: "address" }),
  lightstepAddress: flag("--lightstepAddress ADDRESS", "Address of a LightStep collector", { type: "address" }),
  lightstepAccessToken: flag("--lightstepAccessToken TEXT", "Access token of LightStep"),
  lightstepSecure: flag("--lightstepSecure", "Use TLS to LightStep"),
  lightstepCacertPath: flag("--lightstepCacertPath TEXT", "Root certificates of LightStep"),
  datadogAgentAddress: flag("--datadogAgentAddress ADDRESS", "Address of a Datadog agent", { type: "address" }),
  statsdUdpAddress: flag("--statsdUdpAddress ADDRESS", "Address of a statsd server", { type: "address" }),
  envoyMetricsServiceAddress: flag("--envoyMetricsServiceAddress ADDRESS", "Address of a metrics service", {
    type: "address",
  }),
  envoyMetricsService: flag("--envoyMetricsService TEXT", "Metrics service, as JSON"),
  envoyAccessLogService: flag("--envoyAccessLogService TEXT", "Access log service, as JSON"),
  proxyAdminPort: flag("--proxyAdminPort PORT", "Port of Envoy's admin interface", { type: "port", least: 0 }),
  controlPlaneAuthPolicy: flag("--controlPlaneAuthPolicy TEXT", "NONE or MUTUAL_TLS"),
  customConfigFile: flag("--customConfigFile FILE", "Envoy's bootstrap, used unchanged", { type: "file" }),
  statusPort: flag("--statusPort PORT", "Port of the status server", { type: "port", least: 0 }),
} as const satisfies FlagTable;

const RETIRED_FLAGS = {
  trustDomain: flag("--trust-domain TEXT", "Trust domain", { retired: "use the variable TRUST_DOMAIN" }),
  tokenManagerPlugin: flag("--tokenManagerPlugin TEXT", "Token service", {
    retired: "this agent does not run a token service, see --stsPort",
  }),
  profiling: flag("--profiling", "Profiling of pilot-agent", {
    default: "true",
    retired: "this agent has no profiler: its metrics report CPU and memory (istio_agent_process_*)",
  }),
  applicationPorts: flag("--applicationPorts TEXT", "Ports that readiness probed in old releases", { retired: "" }),
  connectTimeout: flag("--connectTimeout TIME", "Connect timeout of 1.0 to 1.5", { retired: "", type: "duration" }),
  dnsRefreshRate: flag("--dnsRefreshRate TIME", "DNS refresh rate of 1.2 to 1.5", { retired: "", type: "duration" }),
  discoveryRefreshDelay: flag("--discoveryRefreshDelay TIME", "Polling of 1.0", { retired: "", type: "duration" }),
  mixerIdentity: flag("--mixerIdentity TEXT", "Identity of Mixer", { retired: GONE }),
  disableInternalTelemetry: flag("--disableInternalTelemetry", "Internal telemetry of 1.0 to 1.7", { retired: GONE }),
  bootstrapv2: flag("--bootstrapv2", "Bootstrap of 1.0", { retired: "" }),
  availabilityZone: flag("--availabilityZone TEXT", "Zone of 1.0", {
    retired: `${GONE}: use the label topology.istio.io/locality`,
  }),
  controlPlaneBootstrap: flag("--controlPlaneBootstrap", "Control plane bootstrap of 1.1 to 1.5", {
    retired: `${GONE}: --templateFile is always rendered as a bootstrap`,
  }),
  logTarget: flag("--log_target LIST", "Destination of the log", {
    type: "list",
    default: "stdout",
    retired: "the log goes to stderr: let the container runtime or a shell redirect it",
  }),
  logCaller: flag("--log_caller TEXT", "Scopes that log the caller", {
    retired: "log lines name the part of the agent, not the line of code",
  }),
  logStack: flag("--log_stacktrace_level TEXT", "Log levels that print a stack trace", {
    default: "default:none",
    retired: "log lines have no stack trace: use --log_output_level for more lines",
  }),
  logRotate: flag("--log_rotate TEXT", "Log file", { retired: ROTATE }),
  logRotateAge: flag("--log_rotate_max_age NUMBER", "Maximum age of log files", { retired: ROTATE, type: "integer" }),
  logRotateBackups: flag("--log_rotate_max_backups NUMBER", "Maximum number of log files", {
    retired: ROTATE,
    type: "integer",
  }),
  logRotateSize: flag("--log_rotate_max_size NUMBER", "Maximum size of log files", {
    retired: ROTATE,
    type: "integer",
  }),
  vklog: flag("--vklog NUMBER", "Log level of the Kubernetes client", {
    type: "integer",
    default: "0",
    retired: "the agent has no Kubernetes client: use --log-level",
  }),
} as const satisfies FlagTable;

export const FLAG_GROUPS = {
  "Flags": {
    domain: flag("--domain TEXT", "DNS domain of the pod, the last part of the proxy's node id", {
      default: "$POD_NAMESPACE.svc.cluster.local",
    }),
    meshConfig: flag("--meshConfig FILE", "File with a mesh configuration, read if it exists", {
      type: "file",
      default: "./etc/istio/config/mesh",
    }),
    serviceCluster: flag("--serviceCluster TEXT", "Name of the service, if the proxy configuration does not set it", {
      default: "istio-proxy",
    }),
    proxyLogLevel: flag(
      "--proxyLogLevel TEXT",
      "Envoy's log level and component levels, such as info,misc:error,upstream:debug",
      { default: "warning" },
    ),
    proxyComponentLogLevel: flag(
      "--proxyComponentLogLevel TEXT",
      "Log levels of Envoy's components, if --proxyLogLevel sets only the level",
    ),
    concurrency: flag("--concurrency NUMBER", "Envoy's worker threads; 0 uses the configured number", {
      type: "integer",
    }),
    templateFile: flag("--templateFile FILE", "Go template of the bootstrap", { type: "file" }),
    outlierLogPath: flag("--outlierLogPath FILE", "File for Envoy's outlier detection log", { type: "file" }),
    stsPort: flag("--stsPort PORT", "Port of a token service, for the node's metadata", { type: "port", least: 0 }),
    redirectTraffic: flag(
      "--redirect-traffic",
      "First apply the rules that capture the pod's traffic, as kubectl mesh iptables apply does (needs NET_ADMIN)",
    ),
    watch: flag(
      "--watch",
      "Start a new Envoy when its configuration or certificate files change; the old one drains (hot restart)",
    ),
    hotRestart: flag("--hot-restart", "Let SIGHUP start a new Envoy while the old one drains; --watch includes this"),
    restart: flag(
      "--restart never|on-failure",
      "Whether the agent restarts Envoy, with back-off, after a failure",
      { type: "text", default: "never" },
    ),
    xds: flag(
      "--xds agent|direct",
      "How Envoy connects to the control plane: through the agent, or directly over TLS",
      { type: "text", default: "agent" },
    ),
    maximumDrain: flag(
      "--maximum-drain-duration TIME",
      "Maximum drain time with EXIT_ON_ZERO_ACTIVE_CONNECTIONS, instead of MAXIMUM_DRAIN_DURATION",
      { type: "duration" },
    ),
    baseId: flag("--base-id NUMBER", "Envoy's base ID, unique among the Envoys on a machine", {
      type: "integer",
    }),
    nodeId: flag("--id TEXT", "Node id, instead of POD_NAME.POD_NAMESPACE"),
    nodeIp: flag("--ip ADDRESS", "Address of the pod, instead of INSTANCE_IP", { type: "address" }),
    serviceRegistry: flag(
      "--serviceregistry TEXT",
      "Platform for node id and domain: Kubernetes, Consul or another",
      { default: "Kubernetes" },
    ),
    pilotIdentity: flag("--pilotIdentity TEXT", "Identity of the control plane"),
  },
  "Log": {
    logFormat: flag(
      "--log-format text|json",
      "Log format, instead of MESH_LOG_FORMAT; json also applies to Envoy's log",
      {
        type: "text",
      },
    ),
    logLevel: flag("--log-level LEVEL", "Minimum level of the log: debug, info, warning or error", {
      allowed: ["debug", "info", "warning", "error"],
    }),
    istioLogLevel: flag(
      "--log_output_level SCOPE:LEVEL",
      "Log levels by Istio's scopes; the scope all means every scope",
      { type: "list", default: "default:info,grpc:none" },
    ),
    istioLogJson: flag("--log_as_json", "The same as --log-format json"),
  },
  "Flags of Istio 1.0 to 1.5, where no PROXY_CONFIG is given": OLD_FLAGS,
  "Retired": RETIRED_FLAGS,
} as const satisfies FlagGroups;

export type FlagName = FlagNames<typeof FLAG_GROUPS>;

export const FLAGS: FlagTable<FlagName> = flagTable(FLAG_GROUPS);

/** Roles of a proxy: the first argument of the command line. Source: Istio's model.NodeType. */
export const ROLES = ["sidecar", "router", "waypoint", "ztunnel", "agentgateway"] as const;
export type Role = typeof ROLES[number];

/** Whether an argument is a role. */
export function isRole(word: string): word is Role {
  return ROLES.some((role) => role === word);
}
