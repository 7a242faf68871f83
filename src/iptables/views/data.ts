/** Formats the plan as JSON, as commands, or as a table with reasons. */
import { columns, columnsWithin } from "../../base/text/mod.ts";
import { cidrText } from "../../golang/net/mod.ts";
import { PROXY_SOURCE } from "../plan/context.ts";
import { type Family, type Match, type Plan, type PolicyRule, type Rule, rulesOf } from "../plan/rule.ts";
import { NFT_TABLES, nftChain, nftRule, nftText } from "./nft.ts";
import type { PlanData } from "./plan_schema.ts";
import { ruleLine, type RuleTextOptions, tableLines, tablesOf } from "./restore.ts";

/** Formats the plan as one JSON document, with address blocks as text. */
export function jsonText(plan: Plan): string {
  const document: PlanData = {
    families: plan.families.map(familyName),
    rules: plan.rules.map(ruleData),
    policyRules: plan.policyRules.map(({ family, ...rule }) => ({ family: familyName(family), ...rule })),
    routes: plan.policyRules.map(({ family, table }) => ({
      family: familyName(family),
      table,
      route: "local default dev lo",
    })),
    loopbackAddresses: loopbackBlocks(plan),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function familyName(family: Family): PlanData["families"][number] {
  return `IPv${family}`;
}

function ruleData({ family, match, insertAt, ...rest }: Rule): PlanData["rules"][number] {
  const place = insertAt === undefined ? {} : { insertAt };
  const families = family === undefined ? {} : { family: familyName(family) };
  return { ...families, ...rest, ...place, match: match.map(matchData) };
}

function matchData(match: Match): PlanData["rules"][number]["match"][number] {
  return "cidr" in match ? { ...match, cidr: cidrText(match.cidr) } : match;
}

/** Formats the plan as commands, one for each chain, rule, route and address. */
export function commandsText(plan: Plan, options: RuleTextOptions & { readonly nativeNftables?: boolean }): string {
  const rules = options.nativeNftables === true
    ? nftText(plan, options).split("\n").filter((line) => line !== "").map((line) =>
      `nft '${line.replaceAll("'", "'\\''")}'`
    )
    : plan.families.flatMap((family) => iptablesCommands(plan, family, options));
  return [...rules, ...plan.policyRules.flatMap(routeCommands), ...loopbackBlocks(plan).map(addressCommand)]
    .map((line) => `${line}\n`).join("");
}

function iptablesCommands(plan: Plan, family: Family, options: RuleTextOptions): string[] {
  const program = family === 4 ? "iptables" : "ip6tables";
  return tablesOf(rulesOf(plan, family)).flatMap(([table, rules]) =>
    tableLines(rules, options).map((line) => `${program} -t ${table} ${line}`)
  );
}

function routeCommands({ family, mark, table }: PolicyRule): string[] {
  const ip = family === 6 ? "ip -6" : "ip";
  return [`${ip} rule add fwmark ${mark} lookup ${table}`, `${ip} route add local default dev lo table ${table}`];
}

/** Returns the addresses to add to the loopback interface. */
function loopbackBlocks({ families }: Plan): string[] {
  return families.includes(6) ? [cidrText(PROXY_SOURCE[6])] : [];
}

function addressCommand(block: string): string {
  return `ip -6 addr add ${block} dev lo`;
}

/** Options of the table. */
interface TableLook {
  readonly nativeNftables?: boolean;
  /** Maximum width in columns. If the table is wider, each rule is a block of lines. */
  readonly width: number;
}

/** Formats the rules in order as a table, each with its reason. */
export function tableText(plan: Plan, { nativeNftables, width }: TableLook): string {
  const rows = plan.rules.map((rule) => [
    rule.family === undefined ? plan.families.map((family) => `IPv${family}`).join(" ") : `IPv${rule.family}`,
    nativeNftables === true ? (NFT_TABLES.find(({ table }) => table === rule.table)?.name ?? rule.table) : rule.table,
    nativeNftables === true ? nftChain(rule.chain) : rule.chain,
    nativeNftables === true ? nftRule(rule) : ruleLine({ ...rule, insertAt: 0 }).replace(/^-I \S+ 0 /, ""),
    rule.why,
  ]);
  const routes = plan.policyRules.flatMap((rule) =>
    routeCommands(rule).map((
      text,
    ) => [`IPv${rule.family}`, "-", "-", text, "packets with the mark are delivered within the pod"])
  );
  const source = "source address of the proxy for connections to the application";
  const addresses = loopbackBlocks(plan).map((block) => ["IPv6", "-", "-", addressCommand(block), source]);
  const all = [...rows, ...routes, ...addresses];
  const text = columns([["FAMILY", "TABLE", "CHAIN", "RULE", "WHY"], ...all]);
  if (text.split("\n").every((line) => line.length <= width)) return text;
  const blocks = all.map(([family, table, chain, rule = "", why = ""]) => [`${family} ${table} ${chain}`, rule, why]);
  return columnsWithin([["PLACE", "RULE", "WHY"], ...blocks], width);
}
