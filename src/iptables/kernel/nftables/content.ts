/** Reads the rules of the owned nftables tables from the kernel, from a saved `nft list ruleset`, or from a plan. */
import { normalBlock } from "../../../golang/net/mod.ts";
import type { Plan, Rule } from "../../plan/rule.ts";
import { NFT_TABLES, nftChain, nftChains, nftRule } from "../../views/nft.ts";
import type { OwnerNames } from "../xtables/rule_options.ts";
import type { KeyOptions } from "../xtables/transaction.ts";
import { commentOf, type Part, readRule } from "../netfilter/read_rule.ts";
import type { KernelChain, KernelRule, Ruleset } from "../netfilter/ruleset.ts";

/** The rule keys of each chain, in order, by owned table and chain. */
export type NftContent = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

/** A rule in the output of `nft list ruleset`. */
export interface ListedRule {
  /** The normalised rule. The key of an unknown rule never equals a planned key. */
  readonly key: string;
  /** The number of packets that matched the rule; `undefined` if the rule has no counter. */
  readonly packets: number | undefined;
}

/** Parses the chains of each owned table in the output of `nft list ruleset`. */
export function readListing(listing: string, names: OwnerNames): ReadonlyMap<string, Map<string, ListedRule[]>> {
  const tables = new Map(NFT_TABLES.map(({ name }) => [`table inet ${name} {`, new Map<string, ListedRule[]>()]));
  const found = new Map<string, Map<string, ListedRule[]>>();
  let chains: Map<string, ListedRule[]> | undefined;
  let rules: ListedRule[] | undefined;
  for (const raw of listing.split("\n")) {
    const line = raw.trim().replace(/ # handle \d+$/, "");
    const chain = /^chain (\S+) \{$/.exec(line)?.[1];
    if (line.startsWith("table ")) {
      chains = tables.get(line);
      if (chains !== undefined) found.set(line.split(" ")[2] ?? "", chains);
    } else if (chain !== undefined) chains?.set(chain, rules = []);
    else if (line === "}") rules = undefined;
    else if (line !== "" && !/^(type|policy|#)/.test(line)) rules?.push(listedRule(line, names));
  }
  return found;
}

function listedRule(line: string, names: OwnerNames): ListedRule {
  const packets = /\bcounter packets (\d+) bytes \d+/.exec(line)?.[1];
  const text = line.replace(/\bcounter packets \d+ bytes \d+/, "counter");
  return { key: ruleKey(text, names), packets: packets === undefined ? undefined : Number(packets) };
}

/** Returns the content of the owned tables in the kernel. */
export function heldContent({ tables }: Pick<Ruleset, "tables">, names: OwnerNames): NftContent {
  return new Map(NFT_TABLES.flatMap(({ name }) => {
    const chains = tables.get(`inet ${name}`)?.chains;
    if (chains === undefined) return [];
    const keys = ({ rules }: KernelChain) => rules.map((rule) => ruleKey(listedText(rule), names));
    return [[name, new Map([...chains].map(([chain, held]) => [chain, keys(held)]))] as const];
  }));
}

/** Formats a rule as `nft list ruleset` does, without packet counts. */
export function listedText(rule: KernelRule): string {
  const comment = commentOf(rule);
  const parts = readRule(rule, undefined).map(partText);
  return [...parts, ...comment === undefined ? [] : [`comment "${comment}"`]].join(" ");
}

function partText(part: Part): string {
  switch (part.kind) {
    case "condition": {
      const field = part.field === "l4proto" ? "meta l4proto" : part.field;
      return `${field} ${part.negated ? "!= " : ""}${part.value}`;
    }
    case "match":
    case "target":
      return `xt ${part.kind} "${part.name}"`;
    case "counter":
      return "counter";
    case "log":
      return `log prefix "${part.prefix}" group ${part.group}`;
    default:
      return part.text;
  }
}

/** Returns the content that the owned tables have after a plan is applied. */
export function wantedContent(plan: Plan, options: KeyOptions): NftContent {
  return new Map(NFT_TABLES.flatMap(({ table, name }) => {
    const rules = plan.rules.filter((rule) => rule.table === table);
    return rules.length === 0 ? [] : [[name, wantedChains(rules, options)] as const];
  }));
}

function wantedChains(rules: readonly Rule[], options: KeyOptions) {
  const chains = new Map<string, string[]>(nftChains(rules).map((chain) => [chain, []]));
  for (const rule of rules) {
    const chain = chains.get(nftChain(rule.chain)) ?? [];
    const at = rule.insertAt === undefined ? chain.length : rule.insertAt - 1;
    chain.splice(at, 0, ruleKey(nftRule(rule, options), options.names));
  }
  return chains;
}

/** Builds the key of a rule: the conditions in alphabetical order, then the outcome, without packet counts. */
function ruleKey(text: string, names: OwnerNames): string {
  const [quoted = "", comment] = / comment "([^"]*)"$/.exec(text) ?? [];
  const plain = text.slice(0, text.length - quoted.length).replaceAll('"', "")
    .replaceAll(/\b0x[0-9a-f]+\b/g, (hex) => String(Number(hex)));
  const [matches = "", target = ""] = plain.split(/ ?\bcounter\b ?/);
  const start = matches.indexOf("tproxy ");
  const [conditions, verb] = start < 0 ? [matches, ""] : [matches.slice(0, start), matches.slice(start)];
  const outcome = [verb, target].filter((part) => part !== "").join(" ").replaceAll(/\bmeta mark\b/g, "mark");
  const shown = comment === undefined ? "" : ` # ${comment}`;
  return `${conditionKeys(conditions, names).join("; ")} => ${outcome}${shown}`;
}

const CONDITION =
  /(?:meta )?(iifname|oifname|l4proto|skuid|skgid|mark)( !=)? (\S+)|(ip6?|tcp|udp|ct) (saddr|daddr|dport|sport|state|mark)( !=)? (\{ [^}]* \}|\S+)/g;

/**
 * Returns the sorted conditions. Leaves out the protocol if a port condition implies it, because nft prints it only in
 * some rules.
 */
function conditionKeys(text: string, names: OwnerNames): string[] {
  const known = [...text.matchAll(CONDITION)].map(
    ([, meta, metaNot = "", metaValue = "", of = "", field = "", not = "", value = ""]) =>
      meta === undefined
        ? `${of} ${field}${not} ${plainValue(value, field)}`
        : `${meta}${metaNot} ${ownerNumber(meta, metaValue, names)}`,
  );
  const hasPorts = known.some((condition) => /^(tcp|udp) [ds]port/.test(condition));
  const unknown = text.replaceAll(CONDITION, "").trim();
  return [
    ...known.filter((condition) => !hasPorts || !condition.startsWith("l4proto ")),
    ...unknown === "" ? [] : [`? ${unknown}`],
  ].sort();
}

function ownerNumber(meta: string, value: string, names: OwnerNames): string {
  const known = meta === "skuid" ? names.users.get(value) : meta === "skgid" ? names.groups.get(value) : undefined;
  return String(known ?? value);
}

function plainValue(value: string, field: string): string {
  if (field === "state") return value.split(",").sort().join(",");
  if (field === "saddr" || field === "daddr") return normalBlock(value);
  const items = value.replaceAll(/[{}\s]/g, "").split(",");
  return items.sort((a, b) => parseInt(a, 10) - parseInt(b, 10)).join(",");
}
