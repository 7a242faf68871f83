/** Reads the settings of the bootstrap, except node and proxy configuration. */
import { parseUint } from "../../../golang/net/mod.ts";
import { mapAt, type ValueMap } from "../../../base/value.ts";
import type { ProxyNode } from "../node/node.ts";
import { flagText, type PodInputs, type Reading } from "../reading.ts";
import { compliancePolicy } from "./envoy.ts";
import { statsSettings } from "./stats.ts";

export interface BootstrapInputs extends PodInputs {
  readonly node: ProxyNode;
  readonly logJson: boolean;
}

export function readBootstrap(reading: Reading, inputs: BootstrapInputs) {
  const { variables, warnings } = reading;
  const { proxyConfig: { data }, addresses, node: { annotations } } = inputs;
  const rootCa = variables.text("xdsRootCa");
  const exitOnZero = variables.bool("exitOnZero");
  return {
    dualStack: variables.bool("dualStack"),
    ...xdsOf(reading, inputs),
    /** Whether Envoy connects to the control plane directly, not through the agent. */
    isXdsDirect: isXdsDirect(reading),
    stripFragment: variables.bool("stripFragment"),
    /** Whether TLS 1.3 is off in Envoy's gRPC client. */
    isTls12Only: compliancePolicy(reading).isTls12Only,
    statusProxyProtocol: variables.bool("statusProxyProtocol"),
    logJson: inputs.logJson,
    outlierLogPath: flagText(reading, "outlierLogPath"),
    identitySocket: variables.text("identitySocket"),
    /**
     * Whether another program serves the workload's certificate. The agent then serves file certificates on a second
     * socket.
     */
    hasCustomSds: inputs.info.hasIdentitySocket,
    hostIp: variables.text("hostIp"),
    connectionLimit: connectionLimit(data, warnings),
    stats: statsSettings({ proxyConfig: data, annotations, addresses, exitOnZero }, warnings),
    xdsRootCert: rootCa === "SYSTEM" ? "" : rootCa || "./var/run/secrets/istio/root-cert.pem",
  };
}

function isXdsDirect(reading: Reading): boolean {
  const value = flagText(reading, "xds");
  if (!["", "agent", "direct"].includes(value)) {
    reading.usage.push(`Unknown value "${value}" for "--xds": use agent or direct`);
  }
  return value === "direct";
}

/**
 * Reads whether delta xDS and metadata discovery are on. A waypoint always uses both. Metadata discovery needs delta
 * xDS.
 */
function xdsOf({ variables, warnings }: Reading, { role, node }: BootstrapInputs) {
  if (role === "waypoint") return { deltaXds: true, metadataDiscovery: true };
  const deltaXds = variables.bool("deltaXds");
  const isAsked = node.typedMetadata["METADATA_DISCOVERY"] === "true";
  if (isAsked && !deltaXds) warnings.push("Metadata discovery is off: it needs incremental xDS, see ISTIO_DELTA_XDS");
  return { deltaXds, metadataDiscovery: isAsked && deltaXds };
}

const NO_LIMIT = 2_147_483_647;
const METADATA_KEY = "ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS";
const RUNTIME_KEY = "overload.global_downstream_max_connections";

/**
 * Returns the connection limit from `connectionSettings.globalDownstreamConnectionLimit`, or else from `proxyMetadata`,
 * or else from `runtimeValues`; by default, there is no limit. A value that is not a number is ignored with a warning.
 */
export function connectionLimit(proxyConfig: ValueMap, warnings: string[]): number {
  const settings = mapAt(proxyConfig, "connectionSettings");
  const limit = settings["globalDownstreamConnectionLimit"];
  if (typeof limit === "number" && limit > 0) return limit;
  const asked = [mapAt(proxyConfig, "proxyMetadata")[METADATA_KEY], mapAt(proxyConfig, "runtimeValues")[RUNTIME_KEY]];
  for (const text of asked) {
    if (typeof text !== "string" || text === "") continue;
    const number = parseUint(text, 32);
    if (typeof number === "number") return number;
    warnings.push(`The connection limit "${text}" is ignored: it is not a number`);
  }
  return NO_LIMIT;
}
