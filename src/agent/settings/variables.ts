/**
 * The environment variables that the agent reads: flags without a name. Source: the `env.Register` calls of pilot-agent
 * and the features that it uses.
 */
import { type Flag, type FlagTable, readValue } from "../../core/command/mod.ts";
import type { Environment } from "../../core/world/world.ts";

export const VARIABLES = {
  podName: { env: ["POD_NAME"], type: "text", doc: "Name of the pod" },
  podNamespace: { env: ["POD_NAMESPACE"], type: "text", doc: "Namespace of the pod" },
  instanceIp: { env: ["INSTANCE_IP"], type: "text", doc: "Address of the pod" },
  serviceAccount: { env: ["SERVICE_ACCOUNT"], type: "text", doc: "Service account of the pod" },
  hostIp: { env: ["HOST_IP"], type: "text", doc: "Address of the node: $(HOST_IP) in addresses" },
  proxyConfig: { env: ["PROXY_CONFIG"], type: "text", doc: "Proxy configuration, YAML or JSON" },
  bootstrapTemplate: {
    env: ["ISTIO_BOOTSTRAP"],
    type: "text",
    doc: "Go template of the bootstrap, before any other",
  },
  bootstrapOverride: {
    env: ["ISTIO_BOOTSTRAP_OVERRIDE"],
    type: "text",
    doc: "File that Envoy merges over the bootstrap",
  },
  appProbers: { env: ["ISTIO_KUBE_APP_PROBERS"], type: "text", doc: "Probes of the application, JSON" },
  prometheusAnnotations: {
    env: ["ISTIO_PROMETHEUS_ANNOTATIONS"],
    type: "text",
    doc: "Metrics of the application, JSON",
  },
  cpuLimit: { env: ["ISTIO_CPU_LIMIT"], type: "integer", default: "0", doc: "Worker threads if none are configured" },
  disableEnvoy: { env: ["DISABLE_ENVOY"], type: "boolean", default: "false", doc: "Run without Envoy" },
  envoyStatusPort: { env: ["ENVOY_STATUS_PORT"], type: "port", default: "15021", doc: "Envoy's health port" },
  prometheusPort: { env: ["ENVOY_PROMETHEUS_PORT"], type: "port", default: "15090", doc: "Envoy's metrics port" },
  secureMetricsPort: {
    env: ["ENVOY_SECURE_METRICS_PORT"],
    type: "port",
    least: 0,
    default: "0",
    doc: "Envoy's metrics by TLS",
  },
  secureMergedMetricsPort: {
    env: ["ENVOY_SECURE_MERGED_METRICS_PORT"],
    type: "port",
    least: 0,
    default: "0",
    doc: "Merged metrics by TLS",
  },
  statusProxyProtocol: {
    env: ["ENVOY_STATUS_PORT_ENABLE_PROXY_PROTOCOL"],
    type: "boolean",
    default: "false",
    doc: "PROXY protocol on Envoy's health port",
  },
  minimumDrain: {
    env: ["MINIMUM_DRAIN_DURATION"],
    type: "duration",
    default: "5s",
    doc: "With EXIT_ON_ZERO_ACTIVE_CONNECTIONS: wait at least so long",
  },
  exitOnZero: {
    env: ["EXIT_ON_ZERO_ACTIVE_CONNECTIONS"],
    type: "boolean",
    default: "false",
    doc: "Drain until no connection is left",
  },
  maximumDrain: {
    env: ["MAXIMUM_DRAIN_DURATION"],
    type: "duration",
    default: "0s",
    doc:
      "With EXIT_ON_ZERO_ACTIVE_CONNECTIONS: wait at most so long; 0s: terminationDrainDuration if it is set, else 1h",
  },
  oldTerminationDrain: {
    env: ["TERMINATION_DRAIN_DURATION_SECONDS"],
    type: "integer",
    default: "5",
    doc: "The terminationDrainDuration of Istio 1.1 to 1.8",
  },
  skipDeprecatedLogs: {
    env: ["ENVOY_SKIP_DEPRECATED_LOGS"],
    type: "boolean",
    default: "true",
    doc: "Envoy does not log deprecated fields",
  },
  coreDump: { env: ["ISTIO_ENVOY_ENABLE_CORE_DUMP"], type: "boolean", default: "false", doc: "Envoy dumps core" },
  compliancePolicy: { env: ["COMPLIANCE_POLICY"], type: "text", doc: "Rules of cryptography: fips-140-2, or none" },
  deltaXds: { env: ["ISTIO_DELTA_XDS"], type: "boolean", default: "true", doc: "Incremental xDS" },
  dualStack: { env: ["ISTIO_DUAL_STACK"], type: "boolean", default: "false", doc: "Listen on IPv4 and IPv6" },
  metadataDiscovery: {
    env: ["PEER_METADATA_DISCOVERY"],
    type: "boolean",
    default: "false",
    doc: "Peers' metadata by xDS; unset: as ISTIO_META_ENABLE_HBONE",
  },
  xdsRootCa: { env: ["XDS_ROOT_CA"], type: "text", doc: "Root certificates of the control plane" },
  identitySocket: {
    env: ["WORKLOAD_IDENTITY_SOCKET_FILE"],
    type: "text",
    default: "socket",
    doc: "Name of the socket of the workload's certificates",
  },
  dnsProxyAddress: {
    env: ["DNS_PROXY_ADDR"],
    type: "text",
    default: "localhost:15053",
    doc: "Address of the DNS proxy",
  },
  enableDnsServer: {
    env: ["ENABLE_DNS_SERVER"],
    type: "boolean",
    default: "false",
    doc: "Serve DNS in a sidecar even if it is not captured (`ISTIO_META_DNS_CAPTURE`)",
  },
  dnsForwardParallel: {
    env: ["DNS_FORWARD_PARALLEL"],
    type: "boolean",
    default: "false",
    doc: "Ask all DNS servers of the machine at once, not one after the other",
  },
  stripFragment: {
    env: ["HTTP_STRIP_FRAGMENT_FROM_PATH_UNSAFE_IF_DISABLED"],
    type: "boolean",
    default: "true",
    doc: "Envoy strips the fragment of a path",
  },
  metricsLocalhostOnly: {
    env: ["METRICS_LOCALHOST_ACCESS_ONLY"],
    type: "boolean",
    default: "false",
    doc: "Merged metrics for this machine only",
  },
  mergeEnvoyStats: {
    env: ["PILOT_AGENT_MERGE_ENVOY_STATS"],
    type: "boolean",
    default: "true",
    doc: "Envoy's metrics among the merged ones",
  },
  probeLegacyLocalhost: {
    env: ["REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION"],
    type: "boolean",
    default: "false",
    doc: "Probes go to localhost instead of the pod's address",
  },
  probeKeepalive: {
    env: ["ENABLE_PROBE_KEEPALIVE_CONNECTIONS"],
    type: "boolean",
    default: "false",
    doc: "Accepted: each probe has a connection of its own",
  },
  http2Probing: { env: ["ISTIO_ENABLE_HTTP2_PROBING"], type: "boolean", default: "true", doc: "Probes may use HTTP/2" },
  trustDomain: {
    env: ["TRUST_DOMAIN"],
    type: "text",
    default: "cluster.local",
    doc: "Trust domain in the name of the workload",
  },
  caAddress: { env: ["CA_ADDR"], type: "text", doc: "Address of the CA; unset: the discovery address" },
  caProvider: { env: ["CA_PROVIDER"], type: "text", default: "Citadel", doc: "Citadel, or GkeWorkloadCertificate" },
  caRootCa: {
    env: ["CA_ROOT_CA"],
    type: "text",
    doc: "Root certificates of the CA; SYSTEM: those of the system",
  },
  istiodSan: { env: ["ISTIOD_SAN"], type: "text", doc: "Name in the certificate of istiod" },
  pilotCertProvider: {
    env: ["PILOT_CERT_PROVIDER"],
    type: "text",
    default: "istiod",
    doc: "Who made the certificate of istiod: istiod, kubernetes, custom",
  },
  jwtPolicy: {
    env: ["JWT_POLICY"],
    type: "text",
    default: "third-party-jwt",
    doc: "Which token is shown: third-party-jwt, first-party-jwt, none",
  },
  credentialFetcher: {
    env: ["CREDENTIAL_FETCHER_TYPE"],
    type: "text",
    default: "JWT",
    doc: "Accepted: the token is read from its file",
  },
  provCert: { env: ["PROV_CERT"], type: "text", doc: "Folder of a certificate to come to the CA with" },
  outputCerts: { env: ["OUTPUT_CERTS"], type: "text", doc: "Folder that the certificate is written to" },
  fileMountedCerts: {
    env: ["FILE_MOUNTED_CERTS"],
    type: "boolean",
    default: "false",
    doc: "The certificate is in files, no CA is asked",
  },
  secretTtl: { env: ["SECRET_TTL"], type: "duration", default: "24h", doc: "How long a certificate shall be valid" },
  gracePeriodRatio: {
    env: ["SECRET_GRACE_PERIOD_RATIO"],
    type: "ratio",
    default: "0.5",
    doc: "Part of its time that is left when a certificate is renewed",
  },
  gracePeriodJitter: {
    env: ["SECRET_GRACE_PERIOD_RATIO_JITTER"],
    type: "ratio",
    default: "0.01",
    doc: "By how much that is more or less, by chance",
  },
  eccAlgorithm: {
    env: ["ECC_SIGNATURE_ALGORITHM"],
    type: "text",
    doc: "ECDSA or RSA keys; unset: ECDSA, or RSA with WORKLOAD_RSA_KEY_SIZE",
  },
  eccCurve: { env: ["ECC_CURVE"], type: "text", default: "P256", doc: "P256 or P384" },
  rsaKeySize: { env: ["WORKLOAD_RSA_KEY_SIZE"], type: "integer", default: "2048", doc: "Bits of an RSA key" },
  pkcs8Key: { env: ["PKCS8_KEY"], type: "boolean", default: "false", doc: "Keys in the form of PKCS #8" },
  fileDebounce: {
    env: ["FILE_DEBOUNCE_DURATION"],
    type: "duration",
    default: "100ms",
    doc: "Accepted: mounted files are looked at each second",
  },
  certSigner: { env: ["ISTIO_META_CERT_SIGNER"], type: "text", doc: "Signer that the CA is asked for" },
  clusterId: { env: ["ISTIO_META_CLUSTER_ID"], type: "text", doc: "Name of the cluster, told to the CA" },
  logFormat: { env: ["MESH_LOG_FORMAT"], type: "text", doc: "Form of the log: text or json" },
} as const satisfies FlagTable;

/** The key of a variable in the table. */
export type VariableName = keyof typeof VARIABLES;

/** Reads the variables of the table; a value that cannot be read gives the default and a warning, once. */
export class Variables {
  readonly #warned = new Set<VariableName>();

  constructor(private readonly env: Environment, private readonly warnings: string[]) {}

  /** Whether it is set, be it to the empty text. */
  isSet(name: VariableName): boolean {
    return this.env.get(variableName(name)) !== undefined;
  }

  /** Whether it is set to more than the empty text. */
  isGiven(name: VariableName): boolean {
    return (this.env.get(variableName(name)) ?? "") !== "";
  }

  text(name: VariableName): string {
    return String(this.#read(name));
  }

  bool(name: VariableName): boolean {
    return this.#read(name) === true;
  }

  /** An integer, a port, or a number from 0 to 1, as the table says. */
  number(name: VariableName): number {
    return Number(this.#read(name));
  }

  milliseconds(name: VariableName): number {
    return Math.trunc(this.number(name));
  }

  /** Istio takes the empty text for a variable that is not set. */
  #read(name: VariableName): string | number | boolean {
    const flag: Flag = VARIABLES[name];
    const text = this.env.get(variableName(name)) || undefined;
    const { value, reason } = text === undefined ? {} : readValue(flag, text);
    if (value !== undefined) return value;
    const { default: fallback = "" } = flag;
    if (reason !== undefined && !this.#warned.has(name)) {
      this.#warned.add(name);
      this.warnings.push(
        `"${variableName(name)}" is ignored and "${fallback}" used, its value "${text}" cannot be read: ${reason}`,
      );
    }
    return readValue(flag, fallback).value ?? "";
  }
}

/** The name of a variable in the environment. */
export function variableName(name: VariableName): string {
  const [variable] = VARIABLES[name].env;
  return variable;
}
