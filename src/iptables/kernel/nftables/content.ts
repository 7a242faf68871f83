/** The rules in the owned tables of nftables, from `nft -j list ruleset inet` (libnftables-json(5)) and from a plan. */
import { isList, isMap, type Value, type ValueMap } from "../../../base/value.ts";
import type { Plan, Rule } from "../../plan/rule.ts";
import { NFT_TABLES, nftChain, nftChains, nftRule } from "../../views/nft.ts";
import type { KeyOptions } from "../xtables/transaction.ts";
import { normalBlock } from "../../../golang/net/mod.ts";
import type { OwnerNames } from "../xtables/rule_options.ts";

/** The chains of each owned table, with the keys of their rules in order. */
export type NftContent = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

/** An unknown rule gets a key that equals no planned one. */
export function heldContent(listing: Value): NftContent {
  const content = new Map<string, Map<string, string[]>>();
  const items = isMap(listing) && isList(listing["nftables"]) ? listing["nftables"].filter(isMap) : [];
  for (const item of items) {
    const [kind] = Object.keys(item);
    const body = item[kind ?? ""];
    if (isMap(body) && body["family"] === "inet") addItem(content, kind ?? "", body);
  }
  return content;
}

function addItem(content: Map<string, Map<string, string[]>>, kind: string, body: ValueMap): void {
  const table = String(kind === "table" ? body["name"] : body["table"]);
  if (!NFT_TABLES.some(({ name }) => name === table)) return;
  const chains = content.get(table) ?? new Map<string, string[]>();
  content.set(table, chains);
  if (kind === "chain") chains.set(String(body["name"]), chains.get(String(body["name"])) ?? []);
  if (kind === "rule") chains.get(String(body["chain"]))?.push(heldKey(body));
}

/** The content of a plan. */
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
    chain.splice(at, 0, textKey(nftRule(rule, options), options.names));
  }
  return chains;
}

/** The key of a rule: conditions in alphabetical order, then the outcome. The text may have counters. */
export function textKey(text: string, names: OwnerNames): string {
  const quoted = / comment "([^"]*)"$/.exec(text)?.[1];
  const [matches = "", target = ""] = text.replace(/ comment "[^"]*"$/, "").split(/ ?counter ?/);
  const start = matches.indexOf("tproxy ");
  const split = start < 0 ? [matches, ""] : [matches.slice(0, start), matches.slice(start)];
  const outcome = [split[1] ?? "", target].filter((part) => part !== "").join(" ").replace(/\bmeta mark\b/g, "mark");
  return keyOf(textConditions((split[0] ?? "").replace(/ $/, ""), names), outcome, quoted);
}

const CONDITION =
  /(?:meta )?(iifname|oifname|l4proto|skuid|skgid|mark)( !=)? (\S+)|(ip6?|tcp|udp|ct) (saddr|daddr|dport|sport|state|mark)( !=)? (\{ [^}]* \}|\S+)/g;

function textConditions(text: string, names: OwnerNames): string[] {
  return [...text.matchAll(CONDITION)].map((
    [, meta, metaNot = "", metaValue = "", of = "", field = "", not = "", value = ""],
  ) =>
    meta === undefined
      ? `${of} ${field}${not} ${plainValue(value, field)}`
      : `${meta}${metaNot} ${ownerNumber(meta, metaValue, names)}`
  );
}

function ownerNumber(meta: string, value: string, names: OwnerNames): string {
  const known = meta === "skuid" ? names.users.get(value) : meta === "skgid" ? names.groups.get(value) : undefined;
  return String(known ?? value);
}

function plainValue(value: string, field: string): string {
  if (field === "state") return value.split(",").sort().join(",");
  if (field === "saddr" || field === "daddr") return normalBlock(value);
  return value.replace(/[{}\s]/g, "");
}

function keyOf(conditions: readonly string[], outcome: string, comment: string | undefined): string {
  const ports = conditions.some((condition) => /^(tcp|udp) [ds]port/.test(condition));
  const kept = conditions.filter((condition) => !ports || !condition.startsWith("l4proto "));
  return `${[...kept].sort().join("; ")} => ${outcome}${comment === undefined ? "" : ` # ${comment}`}`;
}

/** The key of a rule in the listing. */
export function heldKey(body: ValueMap): string {
  const expressions = isList(body["expr"]) ? body["expr"].filter(isMap) : [];
  const conditions = expressions.flatMap((expression) =>
    isMap(expression["match"]) ? [heldCondition(expression["match"])] : []
  );
  const outcomes = expressions.filter((expression) => !("match" in expression) && !("counter" in expression)).map(
    heldOutcome,
  );
  const comment = body["comment"];
  return keyOf(conditions, outcomes.join(" "), typeof comment === "string" ? comment : undefined);
}

function heldCondition(match: ValueMap): string {
  const not = match["op"] === "!=" ? " !=" : "";
  const field = selector(match["left"] ?? null);
  const state = field === "ct state" ? "state" : "";
  return `${field}${not} ${heldValue(match["right"] ?? null, state)}`;
}

/** `meta.key`, `ct.key` or a field of a packet. */
function selector(left: Value): string {
  if (!isMap(left)) return "?";
  const { meta, ct, payload } = left;
  if (isMap(meta)) return String(meta["key"]);
  if (isMap(ct)) return `ct ${String(ct["key"])}`;
  return isMap(payload) ? `${String(payload["protocol"])} ${String(payload["field"])}` : "?";
}

function heldValue(value: Value, field: string): string {
  if (isList(value)) {
    return value.map((item) => heldValue(item, "")).sort(field === "state" ? undefined : byNumber).join(",");
  }
  if (!isMap(value)) return typeof value === "string" && /[.:]/.test(value) ? normalBlock(value) : String(value);
  const { prefix, set, range } = value;
  if (isMap(prefix)) return normalBlock(`${String(prefix["addr"])}/${String(prefix["len"])}`);
  if (isList(range)) return range.map(String).join("-");
  return isList(set) ? heldValue(set, "") : "?";
}

function byNumber(a: string, b: string): number {
  return parseInt(a, 10) - parseInt(b, 10);
}

function heldOutcome(expression: ValueMap): string {
  const [verb = ""] = Object.keys(expression);
  const body = expression[verb];
  if (!isMap(body)) return verb;
  switch (verb) {
    case "jump":
      return `jump ${String(body["target"])}`;
    case "redirect":
      return `redirect to :${String(body["port"])}`;
    case "tproxy":
      return `tproxy ${String(body["family"])} to :${String(body["port"])}`;
    case "mangle":
      return `${selector(body["key"] ?? null)} set ${
        isMap(body["value"]) ? selector(body["value"]) : String(body["value"])
      }`;
    default:
      return `${verb} ?`;
  }
}
