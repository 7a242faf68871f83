/** Whether the agent answers DNS, and where. Source: pilot-agent's options. */
import { parseBool } from "../../../golang/go_bool.ts";
import type { DnsSettings } from "../../dns/options.ts";
import type { Role } from "../flags.ts";
import type { Reading } from "../reading.ts";
import type { ProxyNode } from "../settings.ts";

/**
 * `DNS_CAPTURE` of the node metadata counts for sidecars only, `ENABLE_DNS_SERVER` for every role: a gateway's Envoy
 * may resolve names by the agent.
 */
export function readDns(reading: Reading, role: Role, { metadata, typedMetadata }: ProxyNode): DnsSettings {
  const { variables } = reading;
  const isCaptured = typedMetadata["DNS_CAPTURE"] === "true" || variables.bool("enableDnsServer");
  const enabled = metadata["ENABLE_DNS_SERVER"];
  const isEnabled = variables.bool("metaEnableDnsServer") ||
    (typeof enabled === "string" && parseBool(enabled) === true);
  return {
    isServed: isEnabled || (role === "sidecar" && isCaptured),
    address: variables.text("dnsProxyAddress"),
    isParallel: variables.bool("dnsForwardParallel"),
    upstreamTimeout: upstreamTimeout(reading),
  };
}

const DEFAULT_TIMEOUT = 5000;

function upstreamTimeout({ variables, warnings }: Reading): number {
  const milliseconds = variables.milliseconds("dnsForwardTimeout");
  if (milliseconds > 0) return milliseconds;
  warnings.push('"DNS_FORWARD_TIMEOUT" is ignored and "5s" used: it is not longer than 0');
  return DEFAULT_TIMEOUT;
}
