/** Whether the agent answers DNS, and where. Source: pilot-agent's options. */
import type { DnsSettings } from "../../dns/options.ts";
import type { Role } from "../flags.ts";
import type { Reading } from "../reading.ts";
import type { ProxyNode } from "../settings.ts";

/** Reads them. The node metadata `DNS_CAPTURE` (`ISTIO_META_DNS_CAPTURE`) says whether DNS is captured. */
export function readDns({ variables }: Reading, role: Role, { typedMetadata }: ProxyNode): DnsSettings {
  const isWanted = typedMetadata["DNS_CAPTURE"] === "true" || variables.bool("enableDnsServer");
  return {
    isServed: role === "sidecar" && isWanted,
    address: variables.text("dnsProxyAddress"),
    isParallel: variables.bool("dnsForwardParallel"),
  };
}
