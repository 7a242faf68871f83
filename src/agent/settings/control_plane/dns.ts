/** Reads whether the agent serves DNS, and at which address. Source: pilot-agent's options. */
import { parseBool } from "../../../golang/go_bool.ts";
import type { DnsSettings } from "../../dns/options.ts";
import type { Role } from "../flags.ts";
import type { Reading } from "../reading.ts";
import type { ProxyNode } from "../node/node.ts";

/**
 * Reads the DNS settings. `DNS_CAPTURE` in the node metadata applies to sidecars only. `ENABLE_DNS_SERVER` applies to
 * every role, because a gateway's Envoy may resolve names through the agent.
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
  warnings.push('"DNS_FORWARD_TIMEOUT" is ignored: it must be longer than 0; "5s" is used instead');
  return DEFAULT_TIMEOUT;
}
