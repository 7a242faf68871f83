/**
 * Every environment variable of the agent. Source: the `env.Register` calls of pilot-agent and of the features that it
 * uses.
 */
import { type Flag, type FlagTable, readValue, retiredWarnings, variable } from "../../golang/flags/mod.ts";
import type { Environment } from "../../platform/world.ts";

/** Defines a boolean that is off by default. */
function option(name: string, doc: string) {
  return variable(name, doc, { type: "boolean", default: "false" });
}

/** Defines a boolean that is on by default. */
function enabled(name: string, doc: string) {
  return variable(name, doc, { type: "boolean", default: "true" });
}

/** Defines a duration. */
function duration(name: string, doc: string, fallback: string) {
  return variable(name, doc, { type: "duration", default: fallback });
}

const NO_GCP = "the agent does not query a cloud: set node metadata with ISTIO_METAJSON_*";
const KEEPALIVE = "the agent passes Envoy's connection to istiod through: Envoy and the kernel send keepalives";

export const VARIABLES = {
  podName: variable("POD_NAME", "Name of the pod"),
  podNamespace: variable("POD_NAMESPACE", "Namespace of the pod"),
  instanceIp: variable("INSTANCE_IP", "Address of the pod"),
  serviceAccount: variable("SERVICE_ACCOUNT", "Service account of the pod"),
  hostIp: variable("HOST_IP", "Address of the node: $(HOST_IP) in addresses"),
  proxyConfig: variable("PROXY_CONFIG", "Proxy configuration, YAML or JSON"),
  bootstrapTemplate: variable("ISTIO_BOOTSTRAP", "Go template of the bootstrap; wins over other templates"),
  bootstrapOverride: variable("ISTIO_BOOTSTRAP_OVERRIDE", "File that Envoy merges over the bootstrap"),
  appProbers: variable("ISTIO_KUBE_APP_PROBERS", "Probes of the application, JSON"),
  prometheusAnnotations: variable("ISTIO_PROMETHEUS_ANNOTATIONS", "Metrics of the application, JSON"),
  cpuLimit: variable("ISTIO_CPU_LIMIT", "Default number of worker threads", { type: "integer", default: "0" }),
  disableEnvoy: option("DISABLE_ENVOY", "Run without Envoy"),
  envoyStatusPort: variable("ENVOY_STATUS_PORT", "Envoy's health port", { type: "port", default: "15021" }),
  prometheusPort: variable("ENVOY_PROMETHEUS_PORT", "Envoy's metrics port", { type: "port", default: "15090" }),
  secureMetricsPort: variable("ENVOY_SECURE_METRICS_PORT", "Envoy's metrics over TLS", {
    type: "port",
    least: 0,
    default: "0",
  }),
  secureMergedMetricsPort: variable("ENVOY_SECURE_MERGED_METRICS_PORT", "Merged metrics over TLS", {
    type: "port",
    least: 0,
    default: "0",
  }),
  statusProxyProtocol: option("ENVOY_STATUS_PORT_ENABLE_PROXY_PROTOCOL", "PROXY protocol on Envoy's health port"),
  minimumDrain: duration("MINIMUM_DRAIN_DURATION", "Minimum drain time with EXIT_ON_ZERO_ACTIVE_CONNECTIONS", "5s"),
  exitOnZero: option("EXIT_ON_ZERO_ACTIVE_CONNECTIONS", "Drain until all connections are closed"),
  maximumDrain: duration(
    "MAXIMUM_DRAIN_DURATION",
    "Maximum drain time with EXIT_ON_ZERO_ACTIVE_CONNECTIONS; 0s: terminationDrainDuration if set, otherwise 1h",
    "0s",
  ),
  oldTerminationDrain: variable(
    "TERMINATION_DRAIN_DURATION_SECONDS",
    "Drain time in Istio 1.1 to 1.8, before terminationDrainDuration",
    { type: "integer", default: "5" },
  ),
  skipDeprecatedLogs: enabled("ENVOY_SKIP_DEPRECATED_LOGS", "Do not log deprecated fields in Envoy"),
  coreDump: option("ISTIO_ENVOY_ENABLE_CORE_DUMP", "Envoy dumps core"),
  compliancePolicy: variable(
    "COMPLIANCE_POLICY",
    "Cryptography rules for Envoy: fips-140-3; fips-140-2 only if the agent makes no TLS connection itself",
  ),
  deltaXds: enabled("ISTIO_DELTA_XDS", "Incremental xDS"),
  dualStack: option("ISTIO_DUAL_STACK", "Listen on IPv4 and IPv6"),
  metadataDiscovery: option(
    "PEER_METADATA_DISCOVERY",
    "Get peers' metadata over xDS; unset: same as ISTIO_META_ENABLE_HBONE",
  ),
  xdsRootCa: variable("XDS_ROOT_CA", "Root certificates of the control plane"),
  identitySocket: variable("WORKLOAD_IDENTITY_SOCKET_FILE", "Name of the socket of the workload's certificates", {
    default: "socket",
  }),
  dnsProxyAddress: variable("DNS_PROXY_ADDR", "Address of the DNS proxy", { default: "localhost:15053" }),
  enableDnsServer: option(
    "ENABLE_DNS_SERVER",
    "Serve DNS in a sidecar even without DNS capture (ISTIO_META_DNS_CAPTURE)",
  ),
  metaEnableDnsServer: option(
    "ISTIO_META_ENABLE_DNS_SERVER",
    "Serve DNS in any role, including gateways, even without DNS capture",
  ),
  dnsForwardParallel: option(
    "DNS_FORWARD_PARALLEL",
    "Query all DNS servers of the machine in parallel",
  ),
  dnsForwardTimeout: duration("DNS_FORWARD_TIMEOUT", "Timeout of a request to a DNS server", "5s"),
  stripFragment: enabled("HTTP_STRIP_FRAGMENT_FROM_PATH_UNSAFE_IF_DISABLED", "Envoy strips the fragment of a path"),
  metricsLocalhostOnly: option("METRICS_LOCALHOST_ACCESS_ONLY", "Serve merged metrics to this machine only"),
  mergeEnvoyStats: enabled("PILOT_AGENT_MERGE_ENVOY_STATS", "Include Envoy's metrics in the merged metrics"),
  probeLegacyLocalhost: option(
    "REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION",
    "Send probes to localhost instead of the pod's address",
  ),
  probeKeepalive: option(
    "ENABLE_PROBE_KEEPALIVE_CONNECTIONS",
    "Accepted and ignored: each probe uses a new connection",
  ),
  http2Probing: enabled("ISTIO_ENABLE_HTTP2_PROBING", "Probes may use HTTP/2"),
  trustDomain: variable("TRUST_DOMAIN", "Trust domain in the name of the workload", { default: "cluster.local" }),
  caAddress: variable("CA_ADDR", "Address of the CA; unset: the discovery address"),
  caProvider: variable("CA_PROVIDER", "Citadel, or GkeWorkloadCertificate", { default: "Citadel" }),
  caRootCa: variable("CA_ROOT_CA", "Root certificates of the CA; SYSTEM: the roots of the system"),
  istiodSan: variable("ISTIOD_SAN", "Name in the certificate of istiod"),
  pilotCertProvider: variable("PILOT_CERT_PROVIDER", "Issuer of istiod's certificate: istiod, kubernetes, custom", {
    default: "istiod",
  }),
  jwtPolicy: variable("JWT_POLICY", "Type of token for authentication: third-party-jwt, first-party-jwt, none", {
    default: "third-party-jwt",
  }),
  credentialFetcher: variable("CREDENTIAL_FETCHER_TYPE", "Accepted and ignored: the token is read from its file", {
    default: "JWT",
  }),
  provCert: variable("PROV_CERT", "Folder of a client certificate for the CA"),
  outputCerts: variable("OUTPUT_CERTS", "Folder to write the certificate to"),
  fileMountedCerts: option("FILE_MOUNTED_CERTS", "Use a certificate from files, without a CA"),
  secretTtl: duration("SECRET_TTL", "Requested lifetime of a certificate", "24h"),
  gracePeriodRatio: variable(
    "SECRET_GRACE_PERIOD_RATIO",
    "Fraction of a certificate's lifetime that remains at renewal",
    { type: "ratio", default: "0.5" },
  ),
  gracePeriodJitter: variable(
    "SECRET_GRACE_PERIOD_RATIO_JITTER",
    "Random variation of SECRET_GRACE_PERIOD_RATIO, up or down",
    {
      type: "ratio",
      default: "0.01",
    },
  ),
  eccAlgorithm: variable(
    "ECC_SIGNATURE_ALGORITHM",
    "Kind of the key, ECDSA or RSA. If unset: RSA if WORKLOAD_RSA_KEY_SIZE is set, otherwise ECDSA",
  ),
  eccCurve: variable("ECC_CURVE", "P256 or P384", { default: "P256" }),
  rsaKeySize: variable("WORKLOAD_RSA_KEY_SIZE", "Bits of an RSA key", { type: "integer", default: "2048" }),
  pkcs8Key: option("PKCS8_KEY", "Write keys in the PKCS #8 format"),
  fileDebounce: duration(
    "FILE_DEBOUNCE_DURATION",
    "Accepted and ignored: mounted files are checked every second",
    "100ms",
  ),
  certSigner: variable("ISTIO_META_CERT_SIGNER", "Signer to request from the CA"),
  clusterId: variable("ISTIO_META_CLUSTER_ID", "Name of the cluster, sent to the CA"),
  logFormat: variable("MESH_LOG_FORMAT", "Format of the log: text or json"),
  cloudPlatform: variable("CLOUD_PLATFORM", "Cloud of the machine", {
    default: "none",
    retired:
      "the agent does not query a cloud: set the locality with the label topology.istio.io/locality, other metadata with " +
      "ISTIO_METAJSON_*",
  }),
  gcpMetadata: variable("GCP_METADATA", "Project, cluster and location in Google's cloud", { retired: NO_GCP }),
  gcpQuotaProject: variable("GCP_QUOTA_PROJECT", "Project that pays for requests to Google's APIs", {
    retired: NO_GCP,
  }),
  gcpZone: variable("GCP_ZONE", "Zone in Google's cloud", { retired: NO_GCP }),
  xdsAuthProvider: variable("XDS_AUTH_PROVIDER", "Token source for the connection to the control plane", {
    retired: "the agent uses the token of JWT_POLICY if it has no certificate; XDS_HEADER_* adds headers",
  }),
  credentialIdentityProvider: variable("CREDENTIAL_IDENTITY_PROVIDER", "Platform that provides a token", {
    default: "GoogleComputeEngine",
    retired: "the agent reads the token from its file: let another program write this file",
  }),
  proxyConfigXds: variable("PROXY_CONFIG_XDS_AGENT", "The agent's own configuration over xDS", {
    default: "false",
    retired: "the agent reads its configuration at startup: restart the agent after a change, or use --watch",
  }),
  grpcBootstrap: variable("GRPC_XDS_BOOTSTRAP", "File for applications that speak xDS themselves", {
    default: "etc/istio/proxy/grpc-bootstrap.json",
  }),
  wasmExpiry: duration("WASM_MODULE_EXPIRY", "Age at which an unused Wasm module is removed", "24h"),
  wasmPurge: duration("WASM_PURGE_INTERVAL", "Interval between removals of unused Wasm modules", "1h"),
  wasmTimeout: duration("WASM_HTTP_REQUEST_TIMEOUT", "Timeout of each request for a Wasm module", "15s"),
  wasmRetries: variable("WASM_HTTP_REQUEST_MAX_RETRIES", "Maximum number of requests for a Wasm module", {
    type: "integer",
    default: "5",
  }),
  wasmInsecure: variable("WASM_INSECURE_REGISTRIES", "Hosts whose certificates are not verified; *: all"),
  wasmConversion: enabled("ISTIO_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION", "Whether the agent fetches Wasm modules"),
  grpcKeepaliveInterval: variable("GRPC_KEEPALIVE_INTERVAL", "Interval between keepalive messages to istiod", {
    default: "30s",
    retired: KEEPALIVE,
  }),
  grpcKeepaliveTimeout: variable("GRPC_KEEPALIVE_TIMEOUT", "Timeout of the response to a keepalive message", {
    default: "10s",
    retired: KEEPALIVE,
  }),
} as const satisfies FlagTable;

export type VariableName = keyof typeof VARIABLES;

/** Reads the variables. For an unreadable value, returns the default and warns once. */
export class Variables {
  readonly #warned = new Set<VariableName>();

  constructor(private readonly env: Environment, private readonly warnings: string[]) {}

  /** Whether a variable is set, even to an empty string. */
  isSet(name: VariableName): boolean {
    return this.env.get(variableName(name)) !== undefined;
  }

  /** Whether a variable is set to a non-empty string. */
  isGiven(name: VariableName): boolean {
    return (this.env.get(variableName(name)) ?? "") !== "";
  }

  text(name: VariableName): string {
    return String(this.#read(name));
  }

  bool(name: VariableName): boolean {
    return this.#read(name) === true;
  }

  /** Returns an integer, a port, or a number from 0 to 1, according to the table. */
  number(name: VariableName): number {
    return Number(this.#read(name));
  }

  milliseconds(name: VariableName): number {
    return Math.trunc(this.number(name));
  }

  /** Returns warnings about retired variables that are set, with the replacements. */
  retired(): string[] {
    return retiredWarnings<VariableName>(VARIABLES, (name) => {
      const flag: Flag = VARIABLES[name];
      return this.isGiven(name) && this.env.get(variableName(name)) !== flag.default ? variableName(name) : undefined;
    });
  }

  /** Reads a variable. Like Istio, treats an empty string as not set. */
  #read(name: VariableName): string | number | boolean {
    const flag: Flag = VARIABLES[name];
    const text = this.env.get(variableName(name)) || undefined;
    const { value, reason } = text === undefined ? {} : readValue(flag, text);
    if (value !== undefined) return value;
    const { default: fallback = "" } = flag;
    if (reason !== undefined && !this.#warned.has(name)) {
      this.#warned.add(name);
      this.warnings.push(
        `"${variableName(name)}" cannot be "${text}": ${reason}; "${fallback}" is used instead`,
      );
    }
    return readValue(flag, fallback).value ?? "";
  }
}

/** Returns the name of a variable in the environment. */
function variableName(name: VariableName): string {
  const [variable] = VARIABLES[name].env;
  return variable;
}
