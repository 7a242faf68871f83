/** Reads the proxy's node from the environment, flags and the pod. */
import { type ProxyConfig, proxyConfigJson, proxySettings } from "../../../istio/configuration.ts";
import { splitHostPort } from "../../../golang/net/mod.ts";
import { isMap, newMap, type ValueMap } from "../../../base/value.ts";
import { ISTIO_RELEASE } from "../../../version.ts";
import { nodeOf, type ProxyNode } from "./node.ts";
import { flagText, type PodInputs, type Reading } from "../reading.ts";

export interface NodeInputs extends PodInputs {
  readonly ports: Readonly<Record<"envoyStatus" | "prometheus" | "secureMetrics" | "secureMergedMetrics", number>>;
}

/** Reads the node. Reports metadata of the wrong type as a problem. */
export function readNode(reading: Reading, inputs: NodeInputs): ProxyNode {
  const { variables, world } = reading;
  const { role, info, proxyConfig, addresses } = inputs;
  const [first = ""] = addresses;
  const { name, domain } = nodeName(reading, first);
  return nodeOf({
    id: `${role}~${first}~${name}~${domain}`,
    env: world.env.all(),
    istioVersion: ISTIO_RELEASE,
    proxyConfig: jsonOf(proxyConfig),
    proxyMetadata: proxySettings(proxyConfig).proxyMetadata,
    podLabels: info.labels,
    podAnnotations: info.annotations,
    known: knownMetadata(reading, inputs),
    extra: {
      ...(variables.isGiven("dnsProxyAddress") ? { DNS_PROXY_ADDR: variables.text("dnsProxyAddress") } : {}),
      ...(info.hasCredentialSocket ? { credential: "true" } : {}),
      ...(info.hasIdentitySocket ? { "file-credential": "true" } : {}),
    },
    metadataDiscovery: variables.isGiven("metadataDiscovery") ? variables.bool("metadataDiscovery") : undefined,
  }, reading);
}

/** Parts of the node's name. Source: pilot-agent in Istio 1.0 to 1.7. */
interface Naming {
  readonly name: (pod: string, address: string) => string;
  readonly domain: (namespace: string) => string;
}

const KUBERNETES: Naming = { name: (pod) => pod, domain: (namespace) => `${namespace}.svc.cluster.local` };
const OTHER: Naming = { name: (_pod, address) => address, domain: () => "" };
const NAMINGS: ReadonlyMap<string, Naming> = new Map([
  ["", KUBERNETES],
  ["Kubernetes", KUBERNETES],
  ["Consul", { name: (_pod, address) => `${address}.service.consul`, domain: () => "service.consul" }],
]);

function nodeName(reading: Reading, address: string): { readonly name: string; readonly domain: string } {
  const { variables } = reading;
  const namespace = variables.text("podNamespace");
  const naming = NAMINGS.get(flagText(reading, "serviceRegistry")) ?? OTHER;
  return {
    name: flagText(reading, "nodeId") || naming.name(`${variables.text("podName")}.${namespace}`, address),
    domain: flagText(reading, "domain") || naming.domain(namespace),
  };
}

function jsonOf(config: ProxyConfig): ValueMap {
  const value = JSON.parse(proxyConfigJson(config));
  return isMap(value) ? value : newMap();
}

function knownMetadata(reading: Reading, { proxyConfig, addresses, ports }: NodeInputs): ValueMap {
  const { variables } = reading;
  const stsPort = Number(flagText(reading, "stsPort"));
  if (stsPort !== 0) {
    reading.warnings.push(
      `"--stsPort" ${stsPort} only appears in the node metadata: the agent does not run a token service, so run your own on this port`,
    );
  }
  return {
    INSTANCE_IPS: addresses.join(","),
    ...(stsPort === 0 ? {} : { STS_PORT: String(stsPort) }),
    ENVOY_STATUS_PORT: ports.envoyStatus,
    ENVOY_PROMETHEUS_PORT: ports.prometheus,
    ENVOY_SECURE_METRICS_PORT: ports.secureMetrics,
    ENVOY_SECURE_MERGED_METRICS_PORT: ports.secureMergedMetrics,
    EXIT_ON_ZERO_ACTIVE_CONNECTIONS: variables.bool("exitOnZero"),
    ENVOY_SKIP_DEPRECATED_LOGS: variables.bool("skipDeprecatedLogs"),
    WORKLOAD_IDENTITY_SOCKET_FILE: variables.text("identitySocket"),
    OUTLIER_LOG_PATH: flagText(reading, "outlierLogPath"),
    PILOT_SAN: controlPlaneNames(reading, proxyConfig),
  };
}

/**
 * Returns the names that istiod's certificate must contain; empty without MUTUAL_TLS. Source: pilot-agent's
 * GetPilotSan.
 */
function controlPlaneNames(reading: Reading, { data }: ProxyConfig): string[] | "" {
  if (data["controlPlaneAuthPolicy"] !== "MUTUAL_TLS") return "";
  const identity = flagText(reading, "pilotIdentity");
  if (identity !== "") return [identity];
  const address = String(data["discoveryAddress"] ?? "");
  const parts = splitHostPort(address);
  const host = typeof parts === "string" ? address : parts.host;
  return [host === "localhost" ? "istiod.istio-system.svc" : host];
}
