import type { Cidr } from "../../core/net.ts";
import { proxyOwners } from "./outbound.ts";
import type { PlanContext } from "./plan.ts";
import type { Family, Match, PortRange, Rule, Target } from "./rule.ts";

/** Where the agent answers DNS. */
export const DNS_CAPTURE_PORT = 15053;
const DNS: PortRange = { first: 53, last: 53 };
const AGENT: PortRange = { first: DNS_CAPTURE_PORT, last: DNS_CAPTURE_PORT };
const TCP = { kind: "protocol", protocol: "tcp" } as const;
const UDP = { kind: "protocol", protocol: "udp" } as const;

/**
 * Step 13: DNS goes to the agent. The zones keep the agent's own queries apart from those that it answers: over UDP
 * both have the same addresses and ports, and connection tracking would mix them up.
 */
export function dnsRules(context: PlanContext): Rule[] {
  if (context.dns === "off") return [];
  const families = servedFamilies(context);
  const servers: readonly (Cidr | undefined)[] = context.dns === "all" ? [undefined] : ordered(context.dns);
  return [
    ...jumps(undefined, "raw", "OUTPUT", "ISTIO_OUTPUT_DNS"),
    ...families.flatMap((family) => jumps(family, "nat", "ISTIO_OUTPUT", "ISTIO_OUTPUT_DNS")),
    ...servers.map((server) => redirected(server, TCP)),
    ...servers.map((server) => redirected(server, UDP)),
    ...ownQueries(context),
    ...families.flatMap((family) => jumps(family, "raw", "PREROUTING", "ISTIO_INBOUND")),
    ...servers.flatMap(applicationQueries),
  ];
}

function ordered(servers: readonly Cidr[]): Cidr[] {
  return [
    ...servers.filter(({ address }) => address.family === 4),
    ...servers.filter(({ address }) => address.family === 6),
  ];
}

/** Families that have a server; one `undefined` if all have, so that nft gets one rule for both. */
function servedFamilies({ dns, families }: PlanContext): (Family | undefined)[] {
  if (dns === "off") return [];
  const served = dns === "all"
    ? families
    : families.filter((family) => dns.some(({ address }) => address.family === family));
  return served.length === families.length ? [undefined] : [...served];
}

function jumps(family: Family | undefined, table: "nat" | "raw", chain: string, to: string): Rule[] {
  return [{ family, table, chain, match: [], target: { kind: "jump", chain: to }, why: "DNS is looked at" }];
}

function redirected(server: Cidr | undefined, protocol: Match): Rule {
  const match = [protocol, { kind: "ports", ports: [DNS] } as const, ...address("destination", server)];
  const target: Target = { kind: "redirect", port: DNS_CAPTURE_PORT };
  const why = `DNS queries go to the agent, port ${DNS_CAPTURE_PORT}`;
  return { family: server?.address.family, table: "nat", chain: "ISTIO_OUTPUT_DNS", match, target, why };
}

/** What the agent asks, and what it answers; users that are not captured ask for themselves too. */
function ownQueries(context: PlanContext): Rule[] {
  const asked = "the agent's own DNS queries are tracked apart, in zone 1";
  const excluded = context.settings.excludeUids.map((owner) =>
    zone(
      [UDP, { kind: "ports", ports: [DNS] }, { kind: "uid", owner }],
      1,
      `DNS queries of user ${owner} are not captured`,
    )
  );
  return [
    ...proxyOwners(context).flatMap((owner) => [
      zone([UDP, { kind: "ports", ports: [DNS] }, owner], 1, asked),
      zone(
        [UDP, { kind: "sourcePorts", ports: [AGENT] }, owner],
        2,
        "the agent's answers belong to the queries, in zone 2",
      ),
    ]),
    ...excluded,
  ];
}

function applicationQueries(server: Cidr | undefined): Rule[] {
  const family = server?.address.family;
  const asked: Match[] = [UDP, { kind: "ports", ports: [DNS] }, ...address("destination", server)];
  const answered: Match[] = [UDP, { kind: "sourcePorts", ports: [DNS] }, ...address("source", server)];
  return [
    { ...zone(asked, 2, "DNS queries of applications are tracked in zone 2"), family },
    {
      ...zone(answered, 1, "answers of DNS servers belong to the agent's queries, in zone 1"),
      family,
      chain: "ISTIO_INBOUND",
    },
  ];
}

function zone(match: readonly Match[], number: number, why: string): Rule {
  const target: Target = { kind: "zone", zone: number };
  return { family: undefined, table: "raw", chain: "ISTIO_OUTPUT_DNS", match, target, why };
}

function address(kind: "source" | "destination", cidr: Cidr | undefined): Match[] {
  return cidr === undefined ? [] : [{ kind, cidr }];
}
