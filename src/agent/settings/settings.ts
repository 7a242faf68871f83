/** The agent's settings: validated, plain data. */
import type { ProxyConfig, ProxySettings } from "../../istio/configuration.ts";
import type { ValueMap } from "../../base/value.ts";
import type { ScrapeTarget } from "../metrics/scrape_targets.ts";
import type { Probers } from "../status/probes/config.ts";
import type { IdentitySettings } from "../identity/options.ts";
import type { XdsSettings } from "../xds/options.ts";
import type { DnsSettings } from "../dns/options.ts";
import type { HealthSettings } from "../health/options.ts";
import type { IpMode } from "./pod/addresses.ts";
import type { ProgramName } from "./command_line.ts";
import type { Role } from "./flags.ts";
import type { PodInfo } from "./pod/pod.ts";

export interface ProxyNode {
  /** `role~address~name.namespace~domain`. */
  readonly id: string;
  readonly cluster: string;
  readonly locality: Locality;
  /** The metadata, with sorted keys. */
  readonly metadata: ValueMap;
  /** The fields that Istio's types define, by JSON name. */
  readonly typedMetadata: ValueMap;
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
}

/** The proxy's locality. Unknown parts are `""`. */
export interface Locality {
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
}

/** Ports of the agent and Envoy; 0 means that the port is not served. */
export interface Ports {
  readonly admin: number;
  readonly status: number;
  readonly envoyStatus: number;
  readonly prometheus: number;
  readonly secureMetrics: number;
  readonly secureMergedMetrics: number;
}

export interface DrainSettings {
  /** Envoy's `--drain-time-s`. */
  readonly drainSeconds: number;
  readonly terminationMilliseconds: number;
  readonly isTerminationChosen: boolean;
  readonly minimumMilliseconds: number;
  /** The maximum drain time with `exitOnZeroActiveConnections`; `undefined` if not set. */
  readonly maximumMilliseconds: number | undefined;
  readonly exitOnZeroActiveConnections: boolean;
  /** Value of Envoy's `--parent-shutdown-time-s` in a hot restart. */
  readonly parentShutdownSeconds: number;
}

export interface EnvoySettings {
  readonly isDisabled: boolean;
  readonly binaryPath: string;
  readonly configPath: string;
  /** A custom bootstrap that is used unchanged; `""` if unset. */
  readonly customConfigFile: string;
  /** A Go template that replaces the built-in bootstrap; `""` if unset. */
  readonly templateFile: string;
  /** Whether the template was found in the image instead of being named by the user. */
  readonly isImagesTemplate: boolean;
  /** Value of `-l`; `""` if unset. */
  readonly logLevel: string;
  /** Value of `--component-log-level`; `""` if unset. */
  readonly componentLogLevel: string;
  /** Number of worker threads; 0 means one per processor. */
  readonly concurrency: number;
  readonly fileFlushMilliseconds: number;
  /** 0 means not set. */
  readonly fileFlushMinKilobytes: number;
  readonly skipDeprecatedLogs: boolean;
  readonly coreDump: boolean;
  /** Compact JSON that Envoy merges over its bootstrap; `""` if unset. */
  readonly bootstrapOverride: string;
  readonly hotRestart: boolean;
  readonly baseId: number;
  readonly environment: Readonly<Record<string, string>>;
}

/** Buckets of the histograms with this name prefix. */
export interface HistogramBuckets {
  readonly prefix: string;
  readonly buckets: readonly number[];
}

export interface StatsSettings {
  readonly extraTags: readonly string[];
  readonly prefixes: readonly string[];
  readonly suffixes: readonly string[];
  readonly regexps: readonly string[];
  readonly histogramBuckets: readonly HistogramBuckets[];
  readonly compression: boolean;
  /** Interval in Envoy's format, such as `10s`; `""` means Envoy's default. */
  readonly flushInterval: string;
  readonly evictionInterval: string;
}

export interface BootstrapSettings {
  readonly dualStack: boolean;
  readonly deltaXds: boolean;
  /** Whether Envoy connects to the control plane directly, not through the agent. */
  readonly isXdsDirect: boolean;
  readonly metadataDiscovery: boolean;
  readonly stripFragment: boolean;
  /** Whether TLS 1.3 is off in Envoy's gRPC client. */
  readonly isTls12Only: boolean;
  readonly statusProxyProtocol: boolean;
  readonly logJson: boolean;
  readonly outlierLogPath: string;
  readonly identitySocket: string;
  /**
   * Whether another program serves the workload's certificate. The agent then serves file certificates on a second
   * socket.
   */
  readonly hasCustomSds: boolean;
  readonly hostIp: string;
  readonly connectionLimit: number;
  readonly stats: StatsSettings;
  readonly xdsRootCert: string;
}

export interface ProbeSettings {
  readonly probers: Probers;
  readonly legacyLocalhost: boolean;
  readonly http2: boolean;
}

export interface MetricsSettings {
  /**
   * Endpoints from `ISTIO_PROMETHEUS_ANNOTATIONS`; empty without application metrics, and for roles other than sidecar.
   */
  readonly scrapeTargets: readonly ScrapeTarget[];
  readonly localhostOnly: boolean;
  readonly mergeEnvoyStats: boolean;
}

/** Options for `startLog`, and levels by Istio's scopes. */
export interface LogSettings {
  readonly format: "text" | "json" | undefined;
  readonly level: string | undefined;
  readonly scopes: ReadonlyMap<string, string>;
}

/** Settings that are known before the node. */
export interface PodInputs {
  readonly role: Role;
  readonly info: PodInfo;
  readonly proxyConfig: ProxyConfig;
  readonly addresses: readonly string[];
}

export interface AgentSettings {
  /** The program that the agent runs as. `pilot-agent` writes the bootstrap with Istio's exact text. */
  readonly program: ProgramName;
  readonly role: Role;
  readonly node: ProxyNode;
  readonly namespace: string;
  /** `INSTANCE_IP` as given; `""` if unset. */
  readonly instanceIp: string;
  readonly addresses: readonly string[];
  readonly ipMode: IpMode;
  readonly proxyConfig: ProxyConfig;
  readonly proxy: ProxySettings;
  readonly ports: Ports;
  readonly drain: DrainSettings;
  readonly envoy: EnvoySettings;
  readonly bootstrap: BootstrapSettings;
  readonly probes: ProbeSettings;
  readonly metrics: MetricsSettings;
  readonly identity: IdentitySettings;
  readonly dns: DnsSettings;
  readonly xds: XdsSettings;
  /** Health checks of a workload without a kubelet; `undefined` if not configured. */
  readonly health: HealthSettings | undefined;
  readonly log: LogSettings;
  /** Path of the mesh configuration. The file is optional. */
  readonly meshFile: string;
  /** Whether the agent applies the rules for traffic capture. */
  readonly redirectTraffic: boolean;
  readonly watch: boolean;
  readonly restart: "never" | "on-failure";
  readonly warnings: readonly string[];
}
