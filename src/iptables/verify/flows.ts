/** Which flows some settings promise to capture, and where to send them so that nothing can leave the pod by it. */
import type { Address, Cidr } from "../../core/net.ts";
import { parseAddress } from "../../core/net.ts";
import type { Endpoint } from "../../core/world/mod.ts";
import { blockHolds, isLinkLocal, isLoopback, maskedBlock, unmapped } from "../address_text.ts";
import type { OwnerNames } from "../kernel/xtables/rule_options.ts";
import { DNS_CAPTURE_PORT } from "../plan/dns.ts";
import type { Family, PortRange } from "../plan/rule.ts";
import type { CaptureSettings } from "../settings/settings.ts";
import type { Flow, FlowKind } from "./flow.ts";
import type { Identity } from "./identity.ts";
import { applicationOwner, proxyOwner } from "./owners.ts";

/** What decides the flows besides the settings. */
export interface FlowContext {
  readonly settings: CaptureSettings;
  readonly families: readonly Family[];
  readonly dnsServers: readonly Address[];
  /** Addresses of the pod's interfaces as text. */
  readonly addresses: readonly string[];
  readonly probePort: number;
  readonly me: Identity;
  readonly names: OwnerNames;
}

/** The flows, family by family. */
export function flowsOf(context: FlowContext): Flow[] {
  return context.families.flatMap((family) => [
    ...outboundFlows(context, family),
    ...inboundFlows(context, family),
    ...selfFlows(context, family),
    ...dnsFlows(context, family),
  ]);
}

/** Blocks that no network uses: for documentation (RFC 5737, RFC 3849). */
const UNUSED: Readonly<Record<Family, readonly string[]>> = {
  4: ["192.0.2.1", "198.51.100.1", "203.0.113.1"],
  6: ["2001:db8::1", "2001:db8:ffff::1"],
};

function outboundFlows(context: FlowContext, family: Family): Flow[] {
  const { settings } = context;
  const port = freePort(context.probePort, [...settings.outboundPortsExclude, ...onlyPort(53)]);
  const blocks = settings.outboundCidrs === "*"
    ? []
    : settings.outboundCidrs.filter((cidr) => cidr.address.family === family);
  const anywhere = settings.outboundCidrs === "*" ? [endpoints(strangers(context, family), port)] : [];
  const ranges = blocks.map((cidr) => endpoints(outside(context, hostsOf(cidr)), port));
  const chosen = settings.outboundCidrs === "*"
    ? []
    : settings.outboundPorts.map(({ first }) => endpoints(strangers(context, family), first));
  return [...anywhere, ...ranges, ...chosen].filter((targets) => targets.length > 0)
    .map((targets) => applicationFlow(context, family, "outbound", { targets, port: settings.proxyPort }));
}

function applicationFlow(
  { settings, me, names }: FlowContext,
  family: Family,
  kind: FlowKind,
  way: { readonly targets: readonly Endpoint[]; readonly port: number },
): Flow {
  return { kind, family, ...way, owner: applicationOwner(settings, me, names) };
}

/** Addresses of nobody, then neighbours: a pod without a default route still reaches these. */
function strangers(context: FlowContext, family: Family): Address[] {
  const neighbours = ownAddresses(context, family).map((own) => ({ ...own, value: own.value ^ 1n }));
  const unused = UNUSED[family].map(parseAddress).filter((address) => typeof address !== "string");
  return outside(context, [...unused, ...neighbours]);
}

/** Some addresses of a block, from its beginning. */
function hostsOf(cidr: Cidr): Address[] {
  const { address, bits } = maskedBlock(cidr);
  const size = 1n << BigInt((address.family === 4 ? 32 : 128) - bits);
  return [1n, 2n, 3n, 9n, size / 2n, size - 2n].filter((step) => step >= 0n && step < size)
    .map((step) => ({ ...address, value: address.value + step }));
}

/** Those that the rules do not let pass and that are not the pod's own. */
function outside(context: FlowContext, candidates: readonly Address[]): Address[] {
  const { settings } = context;
  return candidates.filter((address) =>
    !settings.outboundCidrsExclude.some((cidr) => blockHolds(cidr, address)) && !isLoopback(address) &&
    !ownAddresses(context, address.family).some(({ value }) => value === address.value)
  );
}

function inboundFlows(context: FlowContext, family: Family): Flow[] {
  const { settings, me } = context;
  const excluded = [
    ...settings.inboundPortsExclude,
    ...onlyPort(settings.tunnelPort),
    ...onlyPort(settings.inboundPort),
  ];
  const ports = settings.inboundPorts === "*"
    ? [freePort(context.probePort, excluded)]
    : settings.inboundPorts.map(({ first }) => first).filter((port) => port !== settings.tunnelPort);
  const [own] = ownAddresses(context, family);
  const nobody = { uid: undefined, gid: undefined };
  const owner = me.hasNetAdmin && me.hasNetRaw
    ? own === undefined ? `the pod has no IPv${family} address` : nobody
    : "to let a connection come in needs the capabilities NET_ADMIN and NET_RAW";
  return ports.slice(0, MOST_PORTS).map((port) => ({
    kind: "inbound",
    family,
    targets: own === undefined ? [] : [{ address: own, port }],
    port: settings.inboundPort,
    owner,
  }));
}

/** As many listed ports are tried. */
const MOST_PORTS = 16;

function selfFlows(context: FlowContext, family: Family): Flow[] {
  const { settings, me, names } = context;
  const spared = [...settings.outboundPortsExclude, ...onlyPort(settings.tunnelPort), ...onlyPort(53)];
  const port = freePort(context.probePort, spared);
  const addresses = [...ownAddresses(context, family), ...proxySources(family)]
    .filter((address) => !(family === 4 && blockHolds(settings.loopbackCidr, address)));
  const targets = addresses.slice(0, 1).map((address) => ({ address, port }));
  if (targets.length === 0) return [];
  return [{
    kind: "proxy to itself",
    family,
    targets,
    port: settings.inboundPort,
    owner: proxyOwner(settings, me, names),
  }];
}

/** What the proxy of a pod without an address of this family reaches itself by. */
function proxySources(family: Family): Address[] {
  return [{ family, value: family === 4 ? 0x7f000006n : 6n, zone: "" }];
}

function dnsFlows(context: FlowContext, family: Family): Flow[] {
  const { settings, dnsServers } = context;
  if (!settings.redirectDns) return [];
  const servers = settings.captureAllDns
    ? strangers(context, family)
    : dnsServers.filter((server) => server.family === family);
  const targets = endpoints(servers, 53);
  if (targets.length === 0) return [];
  const way = { targets, port: DNS_CAPTURE_PORT };
  return (["DNS over TCP", "DNS over UDP"] as const).map((kind) => applicationFlow(context, family, kind, way));
}

function endpoints(addresses: readonly Address[], port: number): Endpoint[] {
  return addresses.map((address) => ({ address, port }));
}

/** Addresses of the pod by which others reach it. */
export function ownAddresses({ addresses }: Pick<FlowContext, "addresses">, family: Family): Address[] {
  return addresses.map(parseAddress).filter((address) => typeof address !== "string").map(unmapped)
    .filter((address) =>
      address.family === family && !isLoopback(address) && !isLinkLocal(address) && address.value !== 6n
    );
}

function onlyPort(port: number): PortRange[] {
  return [{ first: port, last: port }];
}

/** The port, or the next that is in none of the ranges. */
export function freePort(start: number, excluded: readonly PortRange[]): number {
  const isFree = (port: number) => !excluded.some(({ first, last }) => first <= port && port <= last);
  for (let step = 0; step < LAST_PORT; step++) {
    const port = (start - 1 + step) % LAST_PORT + 1;
    if (isFree(port)) return port;
  }
  return start;
}

const LAST_PORT = 65535;
