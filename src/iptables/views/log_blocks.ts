/** Formats the first blocks of the log as istio-iptables does. */
import { addressText, cidrText } from "../../golang/net/mod.ts";
import type { PlanNetwork } from "../plan/plan.ts";
import type { Settings } from "../settings/read.ts";
import { portText } from "./nft.ts";

const VARIABLES = [
  "ENVOY_PORT",
  "INBOUND_CAPTURE_PORT",
  "ISTIO_INBOUND_INTERCEPTION_MODE",
  "ISTIO_INBOUND_TPROXY_ROUTE_TABLE",
  "ISTIO_INBOUND_PORTS",
  "ISTIO_OUTBOUND_PORTS",
  "ISTIO_LOCAL_EXCLUDE_PORTS",
  "ISTIO_EXCLUDE_INTERFACES",
  "ISTIO_SERVICE_CIDR",
  "ISTIO_SERVICE_EXCLUDE_CIDR",
  "ISTIO_META_DNS_CAPTURE",
  "INVALID_DROP",
] as const;

/** Formats the environment variables, one per line. */
export function environmentBlock(env: Readonly<Record<string, string>>): string {
  return block("Istio iptables environment:", VARIABLES.map((name) => [name, env[name] ?? ""]));
}

/** Formats the settings in use, one per line. */
export function configBlock({ capture, run }: Settings, network: PlanNetwork | undefined): string {
  return block("Istio config:", [
    ["PROXY_PORT", capture.proxyPort],
    ["PROXY_INBOUND_CAPTURE_PORT", capture.inboundPort],
    ["PROXY_TUNNEL_PORT", capture.tunnelPort],
    ["PROXY_UID", capture.proxyUids.join(",")],
    ["PROXY_GID", capture.proxyGids.join(",")],
    ["INBOUND_INTERCEPTION_MODE", capture.mode],
    ["INBOUND_TPROXY_MARK", capture.mark],
    ["INBOUND_TPROXY_ROUTE_TABLE", capture.routeTable],
    ["INBOUND_PORTS_INCLUDE", listText(capture.inboundPorts, portText)],
    ["INBOUND_PORTS_EXCLUDE", listText(capture.inboundPortsExclude, portText)],
    ["OUTBOUND_OWNER_GROUPS_INCLUDE", listText(capture.ownerGroups)],
    ["OUTBOUND_OWNER_GROUPS_EXCLUDE", listText(capture.ownerGroupsExclude)],
    ["OUTBOUND_IP_RANGES_INCLUDE", listText(capture.outboundCidrs, cidrText)],
    ["OUTBOUND_IP_RANGES_EXCLUDE", listText(capture.outboundCidrsExclude, cidrText)],
    ["OUTBOUND_PORTS_INCLUDE", listText(capture.outboundPorts, portText)],
    ["OUTBOUND_PORTS_EXCLUDE", listText(capture.outboundPortsExclude, portText)],
    ["KUBE_VIRT_INTERFACES", listText(capture.virtualInterfaces)],
    ["ENABLE_INBOUND_IPV6", network?.hasIpv6 ?? "unknown"],
    ["DUAL_STACK", capture.dualStack],
    ["DNS_CAPTURE", capture.redirectDns],
    ["DROP_INVALID", capture.dropInvalid],
    ["CAPTURE_ALL_DNS", capture.captureAllDns],
    ["DNS_SERVERS", network?.dnsServers.map(addressText).join(",") ?? "unknown"],
    ["NETWORK_NAMESPACE", run.networkNamespace],
    ["CNI_MODE", run.cniMode],
    ["EXCLUDE_INTERFACES", listText(capture.excludeInterfaces)],
    ["RECONCILE", run.reconcile],
    ["CLEANUP_ONLY", run.cleanupOnly],
    ["FORCE_APPLY", run.forceApply],
    ["NATIVE_NFTABLES", run.nativeNftables],
    ["FORCE_IPTABLES_BINARY", run.forceBinary],
  ]);
}

function block(title: string, rows: readonly (readonly [string, string | number | boolean])[]): string {
  return [title, ...rows.map(([name, value]) => `${name}=${value}`)].join("\n");
}

function listText<T>(list: "*" | readonly T[], textOf: (item: T) => string = String): string {
  return list === "*" ? "*" : list.map(textOf).join(",");
}
