/**
 * The environment variables that the agent reads: one table for the reader and the help text. Source: the `env.Register`
 * calls of pilot-agent and the features that it uses.
 */
import { readDuration } from "../../core/duration.ts";
import { parseBool, parseUint } from "../../core/net.ts";
import type { Environment } from "../../core/world/world.ts";

/** How the text of a variable is read. */
type VariableKind = "text" | "bool" | "int" | "port" | "duration" | "ratio";

interface Variable {
  readonly env: string;
  readonly kind: VariableKind;
  readonly fallback: string;
  readonly doc: string;
}

export const VARIABLES = {
  podName: { env: "POD_NAME", kind: "text", fallback: "", doc: "Name of the pod" },
  podNamespace: { env: "POD_NAMESPACE", kind: "text", fallback: "", doc: "Namespace of the pod" },
  instanceIp: { env: "INSTANCE_IP", kind: "text", fallback: "", doc: "Address of the pod" },
  serviceAccount: { env: "SERVICE_ACCOUNT", kind: "text", fallback: "", doc: "Service account of the pod" },
  hostIp: { env: "HOST_IP", kind: "text", fallback: "", doc: "Address of the node: $(HOST_IP) in addresses" },
  proxyConfig: { env: "PROXY_CONFIG", kind: "text", fallback: "", doc: "Proxy configuration, YAML or JSON" },
  bootstrapTemplate: {
    env: "ISTIO_BOOTSTRAP",
    kind: "text",
    fallback: "",
    doc: "Go template of the bootstrap, before any other",
  },
  bootstrapOverride: {
    env: "ISTIO_BOOTSTRAP_OVERRIDE",
    kind: "text",
    fallback: "",
    doc: "File that Envoy merges over the bootstrap",
  },
  appProbers: { env: "ISTIO_KUBE_APP_PROBERS", kind: "text", fallback: "", doc: "Probes of the application, JSON" },
  prometheusAnnotations: {
    env: "ISTIO_PROMETHEUS_ANNOTATIONS",
    kind: "text",
    fallback: "",
    doc: "Metrics of the application, JSON",
  },
  cpuLimit: { env: "ISTIO_CPU_LIMIT", kind: "int", fallback: "0", doc: "Worker threads if none are configured" },
  disableEnvoy: { env: "DISABLE_ENVOY", kind: "bool", fallback: "false", doc: "Run without Envoy" },
  envoyStatusPort: { env: "ENVOY_STATUS_PORT", kind: "port", fallback: "15021", doc: "Envoy's health port" },
  prometheusPort: { env: "ENVOY_PROMETHEUS_PORT", kind: "port", fallback: "15090", doc: "Envoy's metrics port" },
  secureMetricsPort: { env: "ENVOY_SECURE_METRICS_PORT", kind: "port", fallback: "0", doc: "Envoy's metrics by TLS" },
  secureMergedMetricsPort: {
    env: "ENVOY_SECURE_MERGED_METRICS_PORT",
    kind: "port",
    fallback: "0",
    doc: "Merged metrics by TLS",
  },
  statusProxyProtocol: {
    env: "ENVOY_STATUS_PORT_ENABLE_PROXY_PROTOCOL",
    kind: "bool",
    fallback: "false",
    doc: "PROXY protocol on Envoy's health port",
  },
  minimumDrain: {
    env: "MINIMUM_DRAIN_DURATION",
    kind: "duration",
    fallback: "5s",
    doc: "With EXIT_ON_ZERO_ACTIVE_CONNECTIONS: wait at least so long",
  },
  exitOnZero: {
    env: "EXIT_ON_ZERO_ACTIVE_CONNECTIONS",
    kind: "bool",
    fallback: "false",
    doc: "Drain until no connection is left",
  },
  maximumDrain: {
    env: "MAXIMUM_DRAIN_DURATION",
    kind: "duration",
    fallback: "0s",
    doc:
      "With EXIT_ON_ZERO_ACTIVE_CONNECTIONS: wait at most so long; 0s: terminationDrainDuration if it is set, else 1h",
  },
  oldTerminationDrain: {
    env: "TERMINATION_DRAIN_DURATION_SECONDS",
    kind: "int",
    fallback: "5",
    doc: "terminationDrainDuration of Istio 1.1 to 1.8",
  },
  skipDeprecatedLogs: {
    env: "ENVOY_SKIP_DEPRECATED_LOGS",
    kind: "bool",
    fallback: "true",
    doc: "Envoy does not log deprecated fields",
  },
  coreDump: { env: "ISTIO_ENVOY_ENABLE_CORE_DUMP", kind: "bool", fallback: "false", doc: "Envoy dumps core" },
  compliancePolicy: { env: "COMPLIANCE_POLICY", kind: "text", fallback: "", doc: "fips-140-2, or none" },
  deltaXds: { env: "ISTIO_DELTA_XDS", kind: "bool", fallback: "true", doc: "Incremental xDS" },
  dualStack: { env: "ISTIO_DUAL_STACK", kind: "bool", fallback: "false", doc: "Listen on IPv4 and IPv6" },
  metadataDiscovery: {
    env: "PEER_METADATA_DISCOVERY",
    kind: "bool",
    fallback: "false",
    doc: "Peers' metadata by xDS; unset: as ISTIO_META_ENABLE_HBONE",
  },
  xdsRootCa: { env: "XDS_ROOT_CA", kind: "text", fallback: "", doc: "Root certificates of the control plane" },
  identitySocket: {
    env: "WORKLOAD_IDENTITY_SOCKET_FILE",
    kind: "text",
    fallback: "socket",
    doc: "Name of the socket of the workload's certificates",
  },
  dnsProxyAddress: {
    env: "DNS_PROXY_ADDR",
    kind: "text",
    fallback: "localhost:15053",
    doc: "Address of the DNS proxy",
  },
  enableDnsServer: {
    env: "ENABLE_DNS_SERVER",
    kind: "bool",
    fallback: "false",
    doc: "Serve DNS in a sidecar even if it is not captured (`ISTIO_META_DNS_CAPTURE`)",
  },
  dnsForwardParallel: {
    env: "DNS_FORWARD_PARALLEL",
    kind: "bool",
    fallback: "false",
    doc: "Ask all DNS servers of the machine at once, not one after the other",
  },
  stripFragment: {
    env: "HTTP_STRIP_FRAGMENT_FROM_PATH_UNSAFE_IF_DISABLED",
    kind: "bool",
    fallback: "true",
    doc: "Envoy strips the fragment of a path",
  },
  metricsLocalhostOnly: {
    env: "METRICS_LOCALHOST_ACCESS_ONLY",
    kind: "bool",
    fallback: "false",
    doc: "Merged metrics for this machine only",
  },
  mergeEnvoyStats: {
    env: "PILOT_AGENT_MERGE_ENVOY_STATS",
    kind: "bool",
    fallback: "true",
    doc: "Envoy's metrics among the merged ones",
  },
  probeLegacyLocalhost: {
    env: "REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION",
    kind: "bool",
    fallback: "false",
    doc: "Probes go to localhost instead of the pod's address",
  },
  probeKeepalive: {
    env: "ENABLE_PROBE_KEEPALIVE_CONNECTIONS",
    kind: "bool",
    fallback: "false",
    doc: "Accepted: each probe has a connection of its own",
  },
  http2Probing: { env: "ISTIO_ENABLE_HTTP2_PROBING", kind: "bool", fallback: "true", doc: "Probes may use HTTP/2" },
  trustDomain: {
    env: "TRUST_DOMAIN",
    kind: "text",
    fallback: "cluster.local",
    doc: "Trust domain in the name of the workload",
  },
  caAddress: { env: "CA_ADDR", kind: "text", fallback: "", doc: "Address of the CA; unset: the discovery address" },
  caProvider: { env: "CA_PROVIDER", kind: "text", fallback: "Citadel", doc: "Citadel, or GkeWorkloadCertificate" },
  caRootCa: {
    env: "CA_ROOT_CA",
    kind: "text",
    fallback: "",
    doc: "Root certificates of the CA; SYSTEM: those of the system",
  },
  istiodSan: { env: "ISTIOD_SAN", kind: "text", fallback: "", doc: "Name in the certificate of istiod" },
  pilotCertProvider: {
    env: "PILOT_CERT_PROVIDER",
    kind: "text",
    fallback: "istiod",
    doc: "Who made the certificate of istiod: istiod, kubernetes, custom",
  },
  jwtPolicy: {
    env: "JWT_POLICY",
    kind: "text",
    fallback: "third-party-jwt",
    doc: "Which token is shown: third-party-jwt, first-party-jwt, none",
  },
  credentialFetcher: {
    env: "CREDENTIAL_FETCHER_TYPE",
    kind: "text",
    fallback: "JWT",
    doc: "Accepted: the token is read from its file",
  },
  provCert: { env: "PROV_CERT", kind: "text", fallback: "", doc: "Folder of a certificate to come to the CA with" },
  outputCerts: { env: "OUTPUT_CERTS", kind: "text", fallback: "", doc: "Folder that the certificate is written to" },
  fileMountedCerts: {
    env: "FILE_MOUNTED_CERTS",
    kind: "bool",
    fallback: "false",
    doc: "The certificate is in files, no CA is asked",
  },
  secretTtl: { env: "SECRET_TTL", kind: "duration", fallback: "24h", doc: "How long a certificate shall be valid" },
  gracePeriodRatio: {
    env: "SECRET_GRACE_PERIOD_RATIO",
    kind: "ratio",
    fallback: "0.5",
    doc: "Part of its time that is left when a certificate is renewed",
  },
  gracePeriodJitter: {
    env: "SECRET_GRACE_PERIOD_RATIO_JITTER",
    kind: "ratio",
    fallback: "0.01",
    doc: "By how much that is more or less, by chance",
  },
  eccAlgorithm: {
    env: "ECC_SIGNATURE_ALGORITHM",
    kind: "text",
    fallback: "",
    doc: "ECDSA or RSA keys; unset: ECDSA, or RSA with WORKLOAD_RSA_KEY_SIZE",
  },
  eccCurve: { env: "ECC_CURVE", kind: "text", fallback: "P256", doc: "P256 or P384" },
  rsaKeySize: { env: "WORKLOAD_RSA_KEY_SIZE", kind: "int", fallback: "2048", doc: "Bits of an RSA key" },
  pkcs8Key: { env: "PKCS8_KEY", kind: "bool", fallback: "false", doc: "Keys in the form of PKCS #8" },
  fileDebounce: {
    env: "FILE_DEBOUNCE_DURATION",
    kind: "duration",
    fallback: "100ms",
    doc: "Accepted: mounted files are looked at each second",
  },
  certSigner: { env: "ISTIO_META_CERT_SIGNER", kind: "text", fallback: "", doc: "Signer that the CA is asked for" },
  clusterId: { env: "ISTIO_META_CLUSTER_ID", kind: "text", fallback: "", doc: "Name of the cluster, told to the CA" },
  logFormat: { env: "MESH_LOG_FORMAT", kind: "text", fallback: "", doc: "text or json" },
} as const satisfies Readonly<Record<string, Variable>>;

/** The key of a variable in the table. */
export type VariableName = keyof typeof VARIABLES;

/** The table as a list, in its order. */
export const VARIABLE_LIST: readonly Variable[] = Object.values(VARIABLES);

/** Reads the variables of the table; a value that cannot be read gives the default and a warning, once. */
export class Variables {
  readonly #warned = new Set<string>();

  constructor(private readonly env: Environment, private readonly warnings: string[]) {}

  /** Whether it is set, be it to the empty text. */
  isSet(name: VariableName): boolean {
    return this.env.get(VARIABLES[name].env) !== undefined;
  }

  /** Whether it is set to more than the empty text. */
  isGiven(name: VariableName): boolean {
    return (this.env.get(VARIABLES[name].env) ?? "") !== "";
  }

  text(name: VariableName): string {
    return this.env.get(VARIABLES[name].env) || VARIABLES[name].fallback;
  }

  bool(name: VariableName): boolean {
    return this.#read(name, parseBool, "it is neither true nor false");
  }

  int(name: VariableName): number {
    return this.#read(name, (text) => numberOf(parseUint(text, 32)), "it is no whole number");
  }

  port(name: VariableName): number {
    const isOptional = VARIABLES[name].fallback === "0";
    const read = (text: string) => {
      const port = numberOf(parseUint(text, 16));
      return port === 0 && !isOptional ? undefined : port;
    };
    return this.#read(name, read, "it is no port");
  }

  milliseconds(name: VariableName): number {
    return this.#read(name, (text) => {
      const duration = readDuration(text);
      return typeof duration === "bigint" && duration >= 0n ? Number(duration / 1_000_000n) : undefined;
    }, 'it is no duration such as "5s"');
  }

  /** A number from 0 to 1. */
  ratio(name: VariableName): number {
    return this.#read(name, (text) => {
      return /^\d*\.?\d+$/.test(text) && Number(text) <= 1 ? Number(text) : undefined;
    }, "it is no number from 0 to 1");
  }

  /** The table's own defaults can always be read; Istio takes the empty text for a variable that is not set. */
  #read<T>(name: VariableName, read: (text: string) => T | undefined, reason: string): T {
    const { env, fallback } = VARIABLES[name];
    const text = this.env.get(env) ?? "";
    const value = text === "" ? undefined : read(text);
    if (value !== undefined) return value;
    if (text !== "" && !this.#warned.has(env)) {
      this.#warned.add(env);
      this.warnings.push(`"${env}" is ignored and "${fallback}" used, its value "${text}" cannot be read: ${reason}`);
    }
    const standard = read(fallback);
    if (standard === undefined) throw new Error(`The default of ${env} cannot be read`);
    return standard;
  }
}

function numberOf(read: number | string): number | undefined {
  return typeof read === "number" ? read : undefined;
}
