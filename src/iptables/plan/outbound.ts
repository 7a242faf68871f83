import type { Cidr } from "../../core/net.ts";
import { cidrText, isLoopback } from "../address_text.ts";
import type { PortsForUids } from "../settings/settings.ts";
import type { PlanContext } from "./plan.ts";
import type { Family, Match, PortRange, Rule, Target } from "./rule.ts";

const TCP = { kind: "protocol", protocol: "tcp" } as const;
const UDP = { kind: "protocol", protocol: "udp" } as const;
const LO = { kind: "outInterface", name: "lo" } as const;
const RETURN = { kind: "return" } as const;
const DNS_PORT: PortRange = { first: 53, last: 53 };

/** A user or group of the proxy. */
export interface Owner {
  readonly kind: "uid" | "gid";
  readonly owner: string;
}

/** The proxy's users, then its groups. */
export function proxyOwners({ settings }: PlanContext): Owner[] {
  return [
    ...settings.proxyUids.map((owner) => ({ kind: "uid", owner }) as const),
    ...settings.proxyGids.map((owner) => ({ kind: "gid", owner }) as const),
  ];
}

/** Steps 9 and 10: excluded ports, and what the proxy sends to the application from its own address. */
export function exclusionRules(context: PlanContext): Rule[] {
  const { outboundPortsExclude, excludePortsForUids } = context.settings;
  const ports = outboundPortsExclude.flatMap((range) =>
    [TCP, UDP].map((protocol) =>
      output([protocol, { kind: "ports", ports: [range] }], RETURN, "connections to this port are not captured")
    )
  );
  const handedOver = context.families.flatMap((family) => {
    const cidr = context.proxySource.get(family);
    const why = "what the proxy hands over to the application, from its own address, is not captured again";
    return cidr === undefined ? [] : [output([LO, { kind: "source", cidr }], RETURN, why, family)];
  });
  return [...ports, ...excludePortsForUids.flatMap(exceptionRules), ...handedOver];
}

function exceptionRules({ protocol, ports, uids }: PortsForUids): Rule[] {
  const ranges: readonly Match[][] = ports === "*" ? [[]] : ports.map((range) => [{ kind: "ports", ports: [range] }]);
  return uids.flatMap((owner) =>
    ranges.map((match) =>
      output(
        [protocol === "tcp" ? TCP : UDP, ...match, { kind: "uid", owner }],
        RETURN,
        `connections of user ${owner} to this port are not captured`,
      )
    )
  );
}

/** Step 11: what the proxy sends, and what an application sends to its own pod. */
export function ownerRules(context: PlanContext): Rule[] {
  const ownPodIsCaptured = includesLoopback(context.settings.outboundCidrs);
  return proxyOwners(context).flatMap((owner) => [
    ...context.families.flatMap((family) => selfCall(context, owner, family)),
    ...(ownPodIsCaptured ? [] : [ownPod(context, owner)]),
    output([owner], RETURN, `what the proxy (${ownerText(owner)}) sends is not captured`),
  ]);
}

/** Across both families: `-i ::1/128` has an effect on the IPv4 rules too, as it has in the peer. */
function includesLoopback(cidrs: "*" | readonly Cidr[]): boolean {
  return cidrs !== "*" && cidrs.some(({ address }) => isLoopback(address));
}

function selfCall(context: PlanContext, owner: Owner, family: Family): Rule[] {
  const cidr = context.loopback.get(family);
  if (cidr === undefined) return [];
  const tunnel = { first: context.settings.tunnelPort, last: context.settings.tunnelPort };
  const excepted = context.dns !== "off" && owner.kind === "uid" ? [DNS_PORT, tunnel] : [tunnel];
  const match: Match[] = [
    LO,
    { kind: "destination", cidr, negated: true },
    TCP,
    { kind: "ports", ports: excepted, negated: true },
    owner,
  ];
  const why = `what the proxy (${ownerText(owner)}) sends to its own pod is inbound: the application called itself`;
  return [output(match, { kind: "jump", chain: "ISTIO_IN_REDIRECT" }, why, family)];
}

function ownPod(context: PlanContext, owner: Owner): Rule {
  const others: Match = { ...owner, negated: true };
  const noDns: Match[] = [TCP, { kind: "ports", ports: [DNS_PORT], negated: true }];
  const match = context.dns === "off" ? [LO, others] : [LO, ...noDns, others];
  return output(match, RETURN, "what an application sends to its own pod is not captured");
}

/** Step 12: users and groups of applications that are not captured. */
export function groupRules({ settings }: PlanContext): Rule[] {
  const users = settings.excludeUids.map((owner) =>
    output([{ kind: "uid", owner }], RETURN, `what user ${owner} sends is not captured`)
  );
  return [...users, ...groupExceptions(settings.ownerGroups, settings.ownerGroupsExclude)];
}

function groupExceptions(included: "*" | readonly string[], excluded: readonly string[]): Rule[] {
  if (included !== "*") {
    const others = included.map((owner): Match => ({ kind: "gid", owner, negated: true }));
    return [output(others, RETURN, "only what processes of these groups send is captured")];
  }
  return excluded.map((owner) => output([{ kind: "gid", owner }], RETURN, `what group ${owner} sends is not captured`));
}

/** Steps 14 to 17: destinations that are not captured, then those that are. */
export function captureRules(context: PlanContext): Rule[] {
  const { settings, families, loopback } = context;
  const own = families.flatMap((family) => {
    const cidr = loopback.get(family);
    return cidr === undefined ? [] : [toCidr(cidr, RETURN, "what goes to the loopback address is not captured")];
  });
  const excluded = byFamily(settings.outboundCidrsExclude)
    .map((cidr) => toCidr(cidr, RETURN, "connections to these addresses are not captured"));
  const ports = settings.outboundPorts.map((range) =>
    output(
      [TCP, { kind: "ports", ports: [range] }],
      REDIRECTED,
      "connections to this port are captured wherever they go",
    )
  );
  return [...own, ...excluded, ...ports, ...includedDestinations(context)];
}

const REDIRECTED = { kind: "jump", chain: "ISTIO_REDIRECT" } as const;

function includedDestinations({ settings }: PlanContext): Rule[] {
  const { outboundCidrs, virtualInterfaces } = settings;
  if (outboundCidrs === "*") {
    return [
      output([], REDIRECTED, "all other connections are captured"),
      ...virtualInterfaces.map((name) => fromVirtual(name)),
    ];
  }
  return byFamily(outboundCidrs).flatMap((cidr) => [
    ...virtualInterfaces.map((name) => fromVirtual(name, cidr)),
    toCidr(cidr, REDIRECTED, "connections to these addresses are captured"),
  ]);
}

function fromVirtual(name: string, cidr?: Cidr): Rule {
  const to: Match[] = cidr === undefined ? [] : [{ kind: "destination", cidr }];
  return {
    family: cidr?.address.family,
    table: "nat",
    chain: "PREROUTING",
    insertAt: 1,
    match: [{ kind: "inInterface", name }, ...to],
    target: REDIRECTED,
    why: `what virtual machines send through ${name} is captured as outbound traffic`,
  };
}

function toCidr(cidr: Cidr, target: Target, why: string): Rule {
  return output([{ kind: "destination", cidr }], target, `${why} (${cidrText(cidr)})`, cidr.address.family);
}

function byFamily(cidrs: readonly Cidr[]): Cidr[] {
  return [
    ...cidrs.filter(({ address }) => address.family === 4),
    ...cidrs.filter(({ address }) => address.family === 6),
  ];
}

function ownerText({ kind, owner }: Owner): string {
  return `${kind === "uid" ? "user" : "group"} ${owner}`;
}

function output(match: readonly Match[], target: Target, why: string, family?: Family): Rule {
  return { family, table: "nat", chain: "ISTIO_OUTPUT", match, target, why };
}
