import type { Cidr } from "../../golang/net/mod.ts";
import {
  byFamily,
  DNS_CAPTURE_PORT,
  DNS_PORT,
  jump,
  onePort,
  type PlanContext,
  ports,
  proxyOwners,
  rule,
  TCP,
  UDP,
} from "./context.ts";
import type { Family, Match, Rule, Target } from "./rule.ts";
import type { PortRange } from "../settings/settings.ts";

const QUERY = [UDP, ports(DNS_PORT)];
const NAT = { table: "nat", chain: "ISTIO_OUTPUT_DNS" } as const;
const RAW = { table: "raw", chain: "ISTIO_OUTPUT_DNS" } as const;

/**
 * Step 13: redirect DNS to the agent. Over UDP, the agent's own queries have the same addresses and ports as the
 * queries that the agent answers, so two conntrack zones separate them.
 */
export function dnsRules(context: PlanContext): Rule[] {
  if (context.dns === "off") return [];
  const families = servedFamilies(context);
  const servers: readonly (Cidr | undefined)[] = context.dns === "all" ? [undefined] : byFamily(context.dns);
  const why = "DNS traffic enters the DNS chains";
  const redirect: Target = { kind: "redirect", port: DNS_CAPTURE_PORT };
  return [
    rule({ table: "raw", chain: "OUTPUT" }, [], jump("ISTIO_OUTPUT_DNS"), why),
    ...families.map((family) =>
      rule({ family, table: "nat", chain: "ISTIO_OUTPUT" }, [], jump("ISTIO_OUTPUT_DNS"), why)
    ),
    ...[TCP, UDP].flatMap((protocol) =>
      servers.map((server) => {
        const match = [protocol, ports(DNS_PORT), ...address("destination", server)];
        const place = { ...NAT, family: server?.address.family };
        return rule(place, match, redirect, `DNS queries go to the agent, port ${DNS_CAPTURE_PORT}`);
      })
    ),
    ...ownQueries(context),
    ...families.map((family) => rule({ family, table: "raw", chain: "PREROUTING" }, [], jump("ISTIO_INBOUND"), why)),
    ...servers.flatMap(applicationQueries),
  ];
}

/**
 * Returns the families that have a DNS server, or a single `undefined` if all have one, so that nft gets one rule for
 * both.
 */
function servedFamilies({ dns, families }: PlanContext): (Family | undefined)[] {
  const hasServer = (family: Family) => typeof dns === "string" || dns.some(({ address }) => address.family === family);
  const served = families.filter(hasServer);
  return served.length === families.length ? [undefined] : served;
}

/** Rules for the agent's own queries and answers, and for queries of excluded users. */
function ownQueries(context: PlanContext): Rule[] {
  const answer = [UDP, sourcePort(onePort(DNS_CAPTURE_PORT))];
  return [
    ...proxyOwners(context).flatMap((owner) => [
      rule(RAW, [...QUERY, owner], zone(1), "the agent's own DNS queries are tracked in zone 1"),
      rule(RAW, [...answer, owner], zone(2), "the agent's answers are tracked with the queries, in zone 2"),
    ]),
    ...context.settings.excludeUids.map((owner) =>
      rule(RAW, [...QUERY, { kind: "uid", owner }], zone(1), `DNS queries of user ${owner} are not captured`)
    ),
  ];
}

function applicationQueries(server: Cidr | undefined): Rule[] {
  const family = server?.address.family;
  const asked = [...QUERY, ...address("destination", server)];
  const answered = [UDP, sourcePort(DNS_PORT), ...address("source", server)];
  return [
    rule({ ...RAW, family }, asked, zone(2), "DNS queries of applications are tracked in zone 2"),
    rule(
      { ...RAW, family, chain: "ISTIO_INBOUND" },
      answered,
      zone(1),
      "answers of DNS servers are tracked with the agent's queries, in zone 1",
    ),
  ];
}

function zone(number: number): Target {
  return { kind: "zone", zone: number };
}

function sourcePort(range: PortRange): Match {
  return { kind: "sourcePorts", ports: [range] };
}

function address(kind: "source" | "destination", cidr: Cidr | undefined): Match[] {
  return cidr === undefined ? [] : [{ kind, cidr }];
}
