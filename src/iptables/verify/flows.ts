/** Lists the flows that the settings should capture, with targets that keep every packet in the pod. */
import {
  type Address,
  blockHolds,
  type Cidr,
  isLinkLocal,
  isLoopback,
  maskedBlock,
  parseAddress,
  unmapped,
} from "../../golang/net/mod.ts";
import type { Endpoint } from "../../platform/mod.ts";
import type { OwnerNames } from "../kernel/xtables/rule_options.ts";
import { DNS_CAPTURE_PORT, onePort } from "../plan/context.ts";
import type { Family } from "../plan/rule.ts";
import type { CaptureSettings, PortRange } from "../settings/settings.ts";
import { applicationOwner, type Identity, type Owner, proxyOwner } from "./owners.ts";

/** The kinds of flows, in the order of the report. */
export const FLOW_KINDS = ["outbound", "inbound", "proxy to itself", "DNS over TCP", "DNS over UDP"] as const;
export type FlowKind = typeof FLOW_KINDS[number];

export interface Flow {
  readonly kind: FlowKind;
  readonly family: Family;
  /** Possible destinations. The first destination with a route is used. */
  readonly targets: readonly Endpoint[];
  readonly port: number;
  /** The user and group that send the flow, or the reason why this process cannot send the flow. */
  readonly owner: Owner | string;
}

export interface FlowResult {
  readonly flow: Flow;
  readonly target: Endpoint | undefined;
  readonly outcome: "proved" | "escaped" | "not provable";
  readonly reason: string;
}

export interface FlowContext {
  readonly settings: CaptureSettings;
  readonly families: readonly Family[];
  readonly dnsServers: readonly Address[];
  /** Addresses of the pod's interfaces, as text. */
  readonly addresses: readonly string[];
  readonly probePort: number;
  readonly me: Identity;
  readonly names: OwnerNames;
}

/** Returns the flows to verify, family by family. */
export function flowsOf(context: FlowContext): Flow[] {
  return context.families.flatMap((family) => [
    ...outboundFlows(context, family),
    ...inboundFlows(context, family),
    ...selfFlows(context, family),
    ...dnsFlows(context, family),
  ]);
}

/** Addresses for documentation, which networks do not use (RFC 5737, RFC 3849). */
const UNUSED: Readonly<Record<Family, readonly string[]>> = {
  4: ["192.0.2.1", "198.51.100.1", "203.0.113.1"],
  6: ["2001:db8::1", "2001:db8:ffff::1"],
};

function outboundFlows(context: FlowContext, family: Family): Flow[] {
  const { outboundPortsExclude, outboundCidrs, outboundPorts, proxyPort } = context.settings;
  const port = freePort(context.probePort, [...outboundPortsExclude, onePort(53)]);
  const targets = outboundCidrs === "*" ? [endpoints(unusedAddresses(context, family), port)] : [
    ...outboundCidrs.filter(({ address }) => address.family === family)
      .map((cidr) => endpoints(captured(context, hostsOf(cidr)), port)),
    ...outboundPorts.map(({ first }) => endpoints(unusedAddresses(context, family), first)),
  ];
  return targets.filter((each) => each.length > 0)
    .map((targets) => applicationFlow(context, family, "outbound", { targets, port: proxyPort }));
}

function applicationFlow(
  { settings, me, names }: FlowContext,
  family: Family,
  kind: FlowKind,
  path: Pick<Flow, "targets" | "port">,
): Flow {
  return { kind, family, ...path, owner: applicationOwner(settings, me, names) };
}

/**
 * Returns unused addresses, then the addresses next to the pod's own addresses. A pod has a route to these neighbours
 * even if it has no default route.
 */
function unusedAddresses(context: FlowContext, family: Family): Address[] {
  const neighbours = ownAddresses(context, family).map((own) => ({ ...own, value: own.value ^ 1n }));
  const unused = UNUSED[family].map(parseAddress).filter((address) => typeof address !== "string");
  return captured(context, [...unused, ...neighbours]);
}

function hostsOf(cidr: Cidr): Address[] {
  const { address, bits } = maskedBlock(cidr);
  const size = 1n << BigInt((address.family === 4 ? 32 : 128) - bits);
  return [1n, 2n, 3n, 9n, size / 2n, size - 2n].filter((step) => step >= 0n && step < size)
    .map((step) => ({ ...address, value: address.value + step }));
}

/** Keeps the candidates that the rules capture and that are not addresses of the pod. */
function captured(context: FlowContext, candidates: readonly Address[]): Address[] {
  const { settings } = context;
  return candidates.filter((address) =>
    !settings.outboundCidrsExclude.some((cidr) => blockHolds(cidr, address)) && !isLoopback(address) &&
    !ownAddresses(context, address.family).some(({ value }) => value === address.value)
  );
}

function inboundFlows(context: FlowContext, family: Family): Flow[] {
  const { settings: { inboundPorts, inboundPortsExclude, inboundPort, tunnelPort }, me } = context;
  const excluded = [...inboundPortsExclude, onePort(tunnelPort), onePort(inboundPort)];
  const ports = inboundPorts === "*"
    ? [freePort(context.probePort, excluded)]
    : inboundPorts.map(({ first }) => first).filter((port) => port !== tunnelPort);
  const [own] = ownAddresses(context, family);
  const sender = own === undefined ? `the pod has no IPv${family} address` : { uid: undefined, gid: undefined };
  const owner = me.hasNetAdmin && me.hasNetRaw ? sender : NO_CAPABILITIES;
  return ports.slice(0, MAX_PORTS).map((port) => ({
    kind: "inbound",
    family,
    targets: own === undefined ? [] : [{ address: own, port }],
    port: inboundPort,
    owner,
  }));
}

const NO_CAPABILITIES = "an inbound connection needs the capabilities NET_ADMIN and NET_RAW";

/** Maximum number of inbound ports to try, if the settings list ports. */
const MAX_PORTS = 16;

function selfFlows(context: FlowContext, family: Family): Flow[] {
  const { settings, me, names } = context;
  const excluded = [...settings.outboundPortsExclude, onePort(settings.tunnelPort), onePort(53)];
  const port = freePort(context.probePort, excluded);
  // If the pod has no address of this family, the proxy calls its own source address.
  const proxySource: Address = { family, value: family === 4 ? 0x7f000006n : 6n, zone: "" };
  const target = [...ownAddresses(context, family), proxySource]
    .find((address) => family === 6 || !blockHolds(settings.loopbackCidr, address));
  if (target === undefined) return [];
  const owner = proxyOwner(settings, me, names);
  const targets = [{ address: target, port }];
  return [{ kind: "proxy to itself", family, targets, port: settings.inboundPort, owner }];
}

function dnsFlows(context: FlowContext, family: Family): Flow[] {
  const { settings, dnsServers } = context;
  if (!settings.redirectDns) return [];
  const servers = settings.captureAllDns
    ? unusedAddresses(context, family)
    : dnsServers.filter((server) => server.family === family);
  const targets = endpoints(servers, 53);
  if (targets.length === 0) return [];
  const path = { targets, port: DNS_CAPTURE_PORT };
  return (["DNS over TCP", "DNS over UDP"] as const).map((kind) => applicationFlow(context, family, kind, path));
}

function endpoints(addresses: readonly Address[], port: number): Endpoint[] {
  return addresses.map((address) => ({ address, port }));
}

/** Returns the addresses at which other pods reach this pod. */
export function ownAddresses({ addresses }: Pick<FlowContext, "addresses">, family: Family): Address[] {
  return addresses.map(parseAddress).filter((address) => typeof address !== "string").map(unmapped)
    .filter((address) =>
      address.family === family && !isLoopback(address) && !isLinkLocal(address) && address.value !== 6n
    );
}

/** Returns the first port, at least `start`, that is outside all excluded ranges. */
export function freePort(start: number, excluded: readonly PortRange[]): number {
  const isFree = (port: number) => !excluded.some(({ first, last }) => first <= port && port <= last);
  for (let step = 0; step < LAST_PORT; step++) {
    const port = (start - 1 + step) % LAST_PORT + 1;
    if (isFree(port)) return port;
  }
  return start;
}

const LAST_PORT = 65535;
