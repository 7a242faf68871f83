import { type Cidr, cidrText, isLoopback } from "../../golang/net/mod.ts";
import {
  byFamily,
  DNS_PORT,
  jump,
  onePort,
  OUT_LO,
  type Owner,
  type PlanContext,
  ports,
  PROXY_SOURCE,
  proxyOwners,
  RETURN,
  rule,
  TCP,
  UDP,
} from "./context.ts";
import type { Family, Match, Rule, Target } from "./rule.ts";

const OUTPUT = { table: "nat", chain: "ISTIO_OUTPUT" } as const;
const CAPTURED = jump("ISTIO_REDIRECT");

/** Steps 9 and 10: exclude ports, and connections from the proxy's source address to the application. */
export function exclusionRules({ settings, families }: PlanContext): Rule[] {
  const why = "connections to this port are not captured";
  return [
    ...settings.outboundPortsExclude.flatMap((range) =>
      [TCP, UDP].map((protocol) => rule(OUTPUT, [protocol, ports(range)], RETURN, why))
    ),
    ...settings.excludePortsForUids.flatMap((exception) =>
      exception.uids.flatMap((owner) => {
        const protocol = exception.protocol === "tcp" ? TCP : UDP;
        const ranges = exception.ports === "*" ? [[]] : exception.ports.map((range) => [ports(range)]);
        const why = `connections of user ${owner} to this port are not captured`;
        return ranges.map((match) => rule(OUTPUT, [protocol, ...match, { kind: "uid", owner }], RETURN, why));
      })
    ),
    ...families.map((family) => {
      const source: Match = { kind: "source", cidr: PROXY_SOURCE[family] };
      const why = "traffic from the proxy to the application is not captured again";
      return rule({ ...OUTPUT, family }, [OUT_LO, source], RETURN, why);
    }),
  ];
}

/** Step 11: exclude traffic of the proxy, and handle traffic of an application to its own pod. */
export function ownerRules(context: PlanContext): Rule[] {
  const { settings: { outboundCidrs }, families, dns } = context;
  // An IPv6 block such as `-i ::1/128` also changes the IPv4 rules, as in istio-iptables.
  const ownPodIsCaptured = outboundCidrs !== "*" && outboundCidrs.some(({ address }) => isLoopback(address));
  const noDns: Match[] = dns === "off" ? [] : [TCP, { ...ports(DNS_PORT), negated: true }];
  const ownPod = "traffic of an application to its own pod is not captured";
  return proxyOwners(context).flatMap((owner) => [
    ...families.map((family) => selfCall(context, owner, family)),
    ...ownPodIsCaptured ? [] : [rule(OUTPUT, [OUT_LO, ...noDns, { ...owner, negated: true }], RETURN, ownPod)],
    rule(OUTPUT, [owner], RETURN, `traffic of the proxy (${ownerText(owner)}) is not captured`),
  ]);
}

function selfCall({ settings, loopback, dns }: PlanContext, owner: Owner, family: Family): Rule {
  const tunnel = onePort(settings.tunnelPort);
  const excepted = dns !== "off" && owner.kind === "uid" ? [DNS_PORT, tunnel] : [tunnel];
  const outside: Match = { kind: "destination", cidr: loopback[family], negated: true };
  const match: Match[] = [OUT_LO, outside, TCP, { ...ports(...excepted), negated: true }, owner];
  const why = `traffic of the proxy (${ownerText(owner)}) to its own pod is inbound: the application calls itself`;
  return rule({ ...OUTPUT, family }, match, jump("ISTIO_IN_REDIRECT"), why);
}

function ownerText({ kind, owner }: Owner): string {
  return `${kind === "uid" ? "user" : "group"} ${owner}`;
}

/** Step 12: exclude users and groups of applications. */
export function groupRules({ settings: { excludeUids, ownerGroups, ownerGroupsExclude } }: PlanContext): Rule[] {
  const excluded = (kind: Owner["kind"]) => (owner: string) =>
    rule(OUTPUT, [{ kind, owner }], RETURN, `traffic of ${ownerText({ kind, owner })} is not captured`);
  const users = excludeUids.map(excluded("uid"));
  if (ownerGroups === "*") return [...users, ...ownerGroupsExclude.map(excluded("gid"))];
  const others = ownerGroups.map((owner): Match => ({ kind: "gid", owner, negated: true }));
  return [...users, rule(OUTPUT, others, RETURN, "only traffic of these groups is captured")];
}

/** Steps 14 to 17: exclude destinations, then capture destinations. */
export function captureRules({ settings, families, loopback }: PlanContext): Rule[] {
  const { outboundCidrs, virtualInterfaces } = settings;
  const excluded = byFamily(settings.outboundCidrsExclude);
  const why = "connections to these addresses are captured";
  return [
    ...families.map((family) => toCidr(loopback[family], RETURN, "traffic to the loopback address is not captured")),
    ...excluded.map((cidr) => toCidr(cidr, RETURN, "connections to these addresses are not captured")),
    ...settings.outboundPorts.map((range) =>
      rule(OUTPUT, [TCP, ports(range)], CAPTURED, "connections to this port are captured for all addresses")
    ),
    ...outboundCidrs === "*"
      ? [
        rule(OUTPUT, [], CAPTURED, "all other connections are captured"),
        ...virtualInterfaces.map((name) => fromVirtual(name)),
      ]
      : byFamily(outboundCidrs).flatMap((cidr) => [
        ...virtualInterfaces.map((name) => fromVirtual(name, cidr)),
        toCidr(cidr, CAPTURED, why),
      ]),
  ];
}

function fromVirtual(name: string, cidr?: Cidr): Rule {
  const to: Match[] = cidr === undefined ? [] : [{ kind: "destination", cidr }];
  const place = { family: cidr?.address.family, table: "nat", chain: "PREROUTING", insertAt: 1 } as const;
  const why = `traffic from virtual machines on ${name} is captured as outbound traffic`;
  return rule(place, [{ kind: "inInterface", name }, ...to], CAPTURED, why);
}

function toCidr(cidr: Cidr, target: Target, why: string): Rule {
  const place = { ...OUTPUT, family: cidr.address.family };
  return rule(place, [{ kind: "destination", cidr }], target, `${why} (${cidrText(cidr)})`);
}
