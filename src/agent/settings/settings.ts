/** All that the agent knows when it starts: read, checked, plain data. */
import type { ProxyConfig, ProxySettings } from "../../core/mesh/configuration.ts";
import type { ValueMap } from "../../core/value.ts";
import type { ScrapeTarget } from "../metrics/scrape_targets.ts";
import type { Probers } from "../status/probes/config.ts";
import type { IdentitySettings } from "../identity/options.ts";
import type { XdsSettings } from "../xds/options.ts";
import type { DnsSettings } from "../dns/options.ts";
import type { HealthSettings } from "../health/options.ts";
import type { IpMode } from "./pod/addresses.ts";
import type { ProgramName } from "./command_line.ts";
import type { Role } from "./flags.ts";

/** Who this proxy is to the control plane: the node of the bootstrap. */
export interface NodeFacts {
  /** `role~address~name.namespace~domain`. */
  readonly id: string;
  readonly cluster: string;
  readonly locality: Locality;
  /** All of the metadata, keys sorted. */
  readonly metadata: ValueMap;
  /** The part of it that the configuration of Istio itself has fields for, by their JSON names. */
  readonly typedMetadata: ValueMap;
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
}

/** Where the proxy runs; what is not known is `""`. */
export interface Locality {
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
}

/** Ports; 0 where nothing listens. */
export interface Ports {
  /** Envoy's admin interface, on loopback. */
  readonly admin: number;
  /** The agent's status server. */
  readonly status: number;
  /** Envoy's listeners for health and metrics. */
  readonly envoyStatus: number;
  readonly prometheus: number;
  readonly secureMetrics: number;
  readonly secureMergedMetrics: number;
}

/** How the proxy ends. */
export interface DrainSettings {
  /** Envoy's `--drain-time-s`. */
  readonly drainSeconds: number;
  readonly terminationMilliseconds: number;
  /** Whether `terminationMilliseconds` is anybody's choice, and not the default. */
  readonly isTerminationChosen: boolean;
  readonly minimumMilliseconds: number;
  /** The longest drain with `exitOnZeroActiveConnections`; `undefined` if none was given. */
  readonly maximumMilliseconds: number | undefined;
  readonly exitOnZeroActiveConnections: boolean;
  /** Envoy's `--parent-shutdown-time-s` in a hot restart. */
  readonly parentShutdownSeconds: number;
}

/** How Envoy is started. */
export interface EnvoySettings {
  readonly isDisabled: boolean;
  readonly binaryPath: string;
  /** The folder of the generated bootstrap. */
  readonly configPath: string;
  /** A bootstrap that is used as it is; `""` for none. */
  readonly customConfigFile: string;
  /** A Go template to render instead of the built-in bootstrap; `""` for none. */
  readonly templateFile: string;
  /** Whether nobody named that template: it lies where Istio's images have theirs. */
  readonly isImagesTemplate: boolean;
  /** `-l`; `""` for none. */
  readonly logLevel: string;
  /** `--component-log-level`; `""` for none. */
  readonly componentLogLevel: string;
  /** 0: Envoy counts the processors. */
  readonly concurrency: number;
  readonly fileFlushMilliseconds: number;
  /** 0: not set. */
  readonly fileFlushMinKilobytes: number;
  readonly skipDeprecatedLogs: boolean;
  readonly coreDump: boolean;
  /** What Envoy merges over its bootstrap, compact JSON; `""` for nothing. */
  readonly bootstrapOverride: string;
  /** Another Envoy may be started beside the one that runs. */
  readonly hotRestart: boolean;
  readonly baseId: number;
  /** Added to the environment that Envoy inherits. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The buckets of the histograms whose names begin so. */
export interface HistogramBuckets {
  readonly prefix: string;
  readonly buckets: readonly number[];
}

/** Which statistics Envoy keeps, and how it gives them away. */
export interface StatsSettings {
  readonly extraTags: readonly string[];
  readonly prefixes: readonly string[];
  readonly suffixes: readonly string[];
  readonly regexps: readonly string[];
  readonly histogramBuckets: readonly HistogramBuckets[];
  /** Whether Envoy's metrics listener compresses. */
  readonly compression: boolean;
  /** As Envoy reads them, such as `10s`; `""` for its default. */
  readonly flushInterval: string;
  readonly evictionInterval: string;
}

/** What the bootstrap depends on besides node and proxy configuration. */
export interface BootstrapFacts {
  readonly dualStack: boolean;
  readonly deltaXds: boolean;
  /** Envoy connects to the control plane itself, not through the agent. */
  readonly isXdsDirect: boolean;
  /** Peers' metadata come by xDS. */
  readonly metadataDiscovery: boolean;
  readonly stripFragment: boolean;
  readonly isFips: boolean;
  readonly statusProxyProtocol: boolean;
  /** Envoy logs JSON. */
  readonly logJson: boolean;
  readonly outlierLogPath: string;
  readonly identitySocket: string;
  /** Another program serves the workload's certificates: files come from a socket of their own. */
  readonly hasCustomSds: boolean;
  readonly hostIp: string;
  /** Most connections at once. */
  readonly connectionLimit: number;
  readonly stats: StatsSettings;
  readonly xdsRootCert: string;
}

/** What the status server's probes of the application depend on. */
export interface ProbeSettings {
  /** `ISTIO_KUBE_APP_PROBERS`. */
  readonly probers: Probers;
  readonly legacyLocalhost: boolean;
  readonly http2: boolean;
}

/** What the merged metrics depend on. */
export interface MetricsSettings {
  /** `ISTIO_PROMETHEUS_ANNOTATIONS`; none if the application has no metrics, or the proxy is no sidecar. */
  readonly scrapeTargets: readonly ScrapeTarget[];
  readonly localhostOnly: boolean;
  readonly mergeEnvoyStats: boolean;
}

/** How the agent logs: options for `startLog`, and Istio's levels by scope. */
export interface LogSettings {
  readonly format: "text" | "json" | undefined;
  readonly level: string | undefined;
  readonly scopes: ReadonlyMap<string, string>;
}

export interface AgentSettings {
  /** The name that it runs under: that of Istio's program stands for Istio's text of the bootstrap. */
  readonly program: ProgramName;
  readonly role: Role;
  readonly node: NodeFacts;
  /** `POD_NAME` and `POD_NAMESPACE`. */
  readonly podName: string;
  readonly namespace: string;
  /** `INSTANCE_IP` as it was given; `""` if it was not. */
  readonly instanceIp: string;
  /** All addresses of the pod, its own first. */
  readonly addresses: readonly string[];
  readonly ipMode: IpMode;
  /** The proxy configuration in effect, and its fields that the program uses. */
  readonly proxyConfig: ProxyConfig;
  readonly proxy: ProxySettings;
  readonly ports: Ports;
  readonly drain: DrainSettings;
  readonly envoy: EnvoySettings;
  readonly bootstrap: BootstrapFacts;
  readonly probes: ProbeSettings;
  readonly metrics: MetricsSettings;
  readonly identity: IdentitySettings;
  readonly dns: DnsSettings;
  readonly xds: XdsSettings;
  /** Of a workload that no kubelet probes; `undefined`: the control plane is told nothing. */
  readonly health: HealthSettings | undefined;
  readonly log: LogSettings;
  /** The file of the mesh configuration; it need not be there. */
  readonly meshFile: string;
  /** Start a new Envoy when files change. */
  readonly watch: boolean;
  readonly restart: "never" | "on-failure";
  /** What was passed over or replaced by a default; each a line for the log. */
  readonly warnings: readonly string[];
}
