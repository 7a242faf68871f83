/**
 * Metadata fields that have a type in Istio. A value of another type is an error. Fields without a type pass unchanged.
 * Source: model.NodeMetadata and model.BootstrapNodeMetadata.
 */
import { goJson, OrderedFields } from "../../../golang/go_json.ts";
import { readGoJson } from "../../json_fields.ts";
import { parseBool } from "../../../golang/go_bool.ts";
import { isList, isMap, type Value, type ValueMap } from "../../../base/value.ts";

/** The encoding of a field: `bool` is the string `"true"`, `list` a comma-separated string, `ports` a JSON string. */
export type TypedKind = "text" | "bool" | "int" | "list" | "ports" | "texts" | "textMap" | "config";

export interface TypedField {
  readonly key: string;
  /** The field's name in templates (`.metadata.NodeName`). */
  readonly go: string;
  readonly kind: TypedKind;
}

function fields(kind: TypedKind, names: Readonly<Record<string, string>>): TypedField[] {
  return Object.entries(names).map(([key, go]) => ({ key, go, kind }));
}

export const TYPED_FIELDS: readonly TypedField[] = [
  ...fields("text", {
    ISTIO_VERSION: "IstioVersion",
    ISTIO_REVISION: "IstioRevision",
    NAMESPACE: "Namespace",
    NODE_NAME: "NodeName",
    WORKLOAD_NAME: "WorkloadName",
    INTERCEPTION_MODE: "InterceptionMode",
    SERVICE_ACCOUNT: "ServiceAccount",
    HTTP_PROXY_PORT: "HTTPProxyPort",
    MESH_ID: "MeshID",
    CLUSTER_ID: "ClusterID",
    NETWORK: "Network",
    TLS_SERVER_CERT_CHAIN: "TLSServerCertChain",
    TLS_SERVER_KEY: "TLSServerKey",
    TLS_SERVER_ROOT_CERT: "TLSServerRootCert",
    TLS_CLIENT_CERT_CHAIN: "TLSClientCertChain",
    TLS_CLIENT_KEY: "TLSClientKey",
    TLS_CLIENT_ROOT_CERT: "TLSClientRootCert",
    BASE: "CertBaseDir",
    IDLE_TIMEOUT: "IdleTimeout",
    HTTP10: "HTTP10",
    GENERATOR: "Generator",
    DNS_PROXY_ADDR: "DNSProxyAddr",
    AUTO_REGISTER_GROUP: "AutoRegisterGroup",
    WORKLOAD_ENTRY: "WorkloadEntry",
    UNPRIVILEGED_POD: "UnprivilegedPod",
    STS_PORT: "StsPort",
    CLOUDRUN_ADDR: "CloudrunAddr",
    WORKLOAD_IDENTITY_SOCKET_FILE: "WorkloadIdentitySocketFile",
    NAME: "InstanceName",
    OWNER: "Owner",
    OUTLIER_LOG_PATH: "OutlierLogPath",
    APP_CONTAINERS: "AppContainers",
    ISTIO_PROXY_SHA: "IstioProxySHA",
  }),
  ...fields("bool", {
    ENABLE_SELF_DISCOVERY: "EnableSelfDiscovery",
    DNS_CAPTURE: "DNSCapture",
    DNS_AUTO_ALLOCATE: "DNSAutoAllocate",
    ENABLE_HBONE: "EnableHBONE",
    DISABLE_HBONE_SEND: "DisableHBONESend",
    INBOUND_LISTENER_EXACT_BALANCE: "InboundListenerExactBalance",
    OUTBOUND_LISTENER_EXACT_BALANCE: "OutboundListenerExactBalance",
    EXIT_ON_ZERO_ACTIVE_CONNECTIONS: "ExitOnZeroActiveConnections",
    METADATA_DISCOVERY: "MetadataDiscovery",
    ENVOY_SKIP_DEPRECATED_LOGS: "EnvoySkipDeprecatedLogs",
  }),
  ...fields("int", {
    ENVOY_STATUS_PORT: "EnvoyStatusPort",
    ENVOY_PROMETHEUS_PORT: "EnvoyPrometheusPort",
    ENVOY_SECURE_METRICS_PORT: "EnvoySecureMetricsPort",
    ENVOY_SECURE_MERGED_METRICS_PORT: "EnvoySecureMergedMetricsPort",
  }),
  ...fields("list", { INSTANCE_IPS: "InstanceIPs", REQUESTED_NETWORK_VIEW: "RequestedNetworkView" }),
  ...fields("ports", { POD_PORTS: "PodPorts" }),
  ...fields("texts", { PILOT_SAN: "PilotSubjectAltName" }),
  ...fields("textMap", {
    LABELS: "Labels",
    STATIC_LABELS: "StaticLabels",
    ANNOTATIONS: "Annotations",
    PLATFORM_METADATA: "PlatformMetadata",
  }),
  ...fields("config", { PROXY_CONFIG: "ProxyConfig" }),
];

export class Unfit {
  constructor(readonly wanted: string) {}
}

/** Returns the normal form of a value; `undefined` for a zero value, which Go's JSON omits. */
type Reader = (value: Value) => Value | undefined | Unfit;

const READERS: Readonly<Record<TypedKind, Reader>> = {
  text: (value) => typeof value === "string" ? value === "" ? undefined : value : new Unfit("a string"),
  bool: readBool,
  int: (value) => Number.isInteger(value) ? value === 0 ? undefined : value : new Unfit("an integer"),
  list: (value) => typeof value === "string" ? value === "" ? undefined : value : new Unfit("a comma-separated string"),
  ports: readPorts,
  texts: (value) =>
    isList(value) && value.every((item) => typeof item === "string") ? value : new Unfit("a list of strings"),
  textMap: readTextMap,
  config: (value) => isMap(value) ? value : new Unfit("an object"),
};

export function readTyped({ kind }: TypedField, value: Value): Value | undefined | Unfit {
  return value === null ? undefined : READERS[kind](value);
}

function readBool(value: Value): Value | undefined | Unfit {
  const flag = typeof value === "string" ? parseBool(value) : undefined;
  if (flag === undefined) return new Unfit('"true" or "false"');
  return flag ? "true" : undefined;
}

function readTextMap(value: Value): Value | undefined | Unfit {
  if (!isMap(value) || !Object.values(value).every((item) => typeof item === "string")) {
    return new Unfit("an object with string values");
  }
  return Object.keys(value).length === 0 ? undefined : value;
}

/** Reads ports. Istio's type has three fields and always writes `protocol`. */
function readPorts(value: Value): Value | undefined | Unfit {
  const unfit = new Unfit('a JSON list of ports, such as [{"containerPort":8080}]');
  if (typeof value !== "string") return unfit;
  const list = readGoJson(value);
  if (list === null) return undefined;
  if (!isList(list) || !list.every(isPort)) return unfit;
  return list.length === 0 ? undefined : goJson(list.map(writePort));
}

function isPort(value: Value): value is ValueMap {
  if (!isMap(value)) return false;
  const { name = "", protocol = "", containerPort = 0 } = value;
  return typeof name === "string" && typeof protocol === "string" && Number.isInteger(containerPort);
}

function writePort({ name = "", protocol = "", containerPort = 0 }: ValueMap): OrderedFields {
  const named: [string, Value][] = name === "" ? [] : [["name", name]];
  return new OrderedFields([...named, ["containerPort", containerPort], ["protocol", protocol]]);
}
