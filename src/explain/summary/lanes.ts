/** Lists the lanes of a pod: connections that the kernel redirects, and connections that bypass the proxy. */
import { type Cidr, cidrText } from "../../golang/net/mod.ts";
import type { CaptureSettings } from "../../iptables/mod.ts";
import { OWN_PORTS } from "../kernel/rules.ts";
import type { Lane } from "./pod_summary_schema.ts";

const ANNOTATION = "traffic.sidecar.istio.io";

type Ports = CaptureSettings["inboundPortsExclude"];

/** Returns the lanes that follow from the capture settings. Omits lanes that no connection can use. */
export function lanesOf(settings: CaptureSettings): Lane[] {
  return [...inbound(settings), ...outbound(settings)];
}

function inbound({ inboundPort, inboundPorts, inboundPortsExclude, excludeInterfaces, mode }: CaptureSettings): Lane[] {
  const excluded = portsText(inboundPortsExclude, OWN_PORTS);
  const isAll = inboundPorts === "*";
  const verb = mode === "TPROXY" ? "redirected with TPROXY" : "redirected";
  const what = isAll ? "every TCP port" : tcpText(portsText(inboundPorts));
  const captured = lane("inbound", "captured", what, `${verb} to port ${inboundPort} of Envoy`);
  const isNothing = inboundPorts.length === 0;
  return [
    ...isNothing ? [] : [captured],
    ...when(isNothing, "inbound", "every port", `${ANNOTATION}/includeInboundPorts is empty`),
    ...when(!isAll && !isNothing, "inbound", "the other ports", "not in includeInboundPorts"),
    ...when(excluded !== "", "inbound", tcpText(excluded), `${ANNOTATION}/excludeInboundPorts`),
    lane("inbound", "bypasses", "UDP", "the mesh carries only TCP"),
    ...interfaces("inbound", excludeInterfaces),
  ];
}

function outbound(settings: CaptureSettings): Lane[] {
  const { proxyPort, outboundCidrs, outboundCidrsExclude, outboundPorts, outboundPortsExclude } = settings;
  const [ports, ranges] = [portsText(outboundPortsExclude), cidrsText(outboundCidrsExclude)];
  const isAll = outboundCidrs === "*";
  const isNothing = outboundCidrs.length === 0 && outboundPorts.length === 0;
  const captured = isAll ? "every TCP connection" : `TCP to ${cidrsText(outboundCidrs)}`;
  const how = `redirected to port ${proxyPort} of Envoy`;
  const byPort = `${how} by ${ANNOTATION}/includeOutboundPorts`;
  const ofRanges = `${ANNOTATION}/includeOutboundIPRanges`;
  return [
    ...isNothing ? [] : [lane("outbound", "captured", captured, how)],
    ...when(isNothing, "outbound", "every connection", `${ofRanges} is empty`),
    ...outboundPorts.length === 0 ? [] : [lane("outbound", "captured", tcpText(portsText(outboundPorts)), byPort)],
    ...when(!isAll && !isNothing, "outbound", "the other addresses", `not in ${ofRanges}`),
    ...when(ports !== "", "outbound", tcpText(ports), `${ANNOTATION}/excludeOutboundPorts`),
    ...when(ranges !== "", "outbound", ranges, `${ANNOTATION}/excludeOutboundIPRanges`),
    ...users(settings),
    ...settings.redirectDns || settings.captureAllDns
      ? [lane("outbound", "captured", "DNS", "redirected to port 15053 of the agent")]
      : [],
    lane("outbound", "bypasses", settings.redirectDns ? "other UDP" : "UDP", "the mesh carries only TCP"),
    ...interfaces("outbound", settings.excludeInterfaces),
  ];
}

function users({ proxyUids, excludeUids, ownerGroups, ownerGroupsExclude }: CaptureSettings): Lane[] {
  const groups = ownerGroups === "*" ? ownerGroupsExclude.join(", ") : "";
  const own = "connections of the proxy, and of other processes of its user";
  return [
    lane("outbound", "bypasses", `user ${proxyUids.join(", ")}`, own),
    ...when(excludeUids.length > 0, "outbound", `users ${excludeUids.join(", ")}`, "istio-iptables excludes them"),
    ...when(groups !== "", "outbound", `groups ${groups}`, "istio-iptables excludes them"),
    ...when(ownerGroups !== "*", "outbound", "other groups", "istio-iptables includes only listed groups"),
  ];
}

function interfaces(direction: Lane["direction"], names: readonly string[]): Lane[] {
  return when(names.length > 0, direction, `interfaces ${names.join(", ")}`, `${ANNOTATION}/excludeInterfaces`);
}

function when(holds: boolean, direction: Lane["direction"], what: string, message: string): Lane[] {
  return holds ? [lane(direction, "bypasses", what, message)] : [];
}

function lane(direction: Lane["direction"], path: Lane["path"], what: string, message: string): Lane {
  return { direction, path, what, message };
}

function portsText(ports: Ports, without: readonly string[] = []): string {
  const texts = ports.map(({ first, last }) => first === last ? String(first) : `${first}-${last}`);
  return texts.filter((text) => !without.includes(text)).join(", ");
}

function tcpText(ports: string): string {
  return `TCP ${/[,-]/.test(ports) ? "ports" : "port"} ${ports}`;
}

function cidrsText(cidrs: readonly Cidr[]): string {
  return cidrs.map(cidrText).join(", ");
}
