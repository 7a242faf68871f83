/** Reads the rules of the owned nftables tables from the kernel, from a saved `nft list ruleset`, or from a plan. */
import type { Family, Rule } from "../../plan/rule.ts";
import { NFT_TABLES, nftRule } from "../../views/nft.ts";
import { commentOf, type Part, readRule } from "../netfilter/read_rule.ts";
import type { KernelRule, Ruleset } from "../netfilter/ruleset.ts";
import { normalOptions, type OwnerNames, ruleKey } from "../xtables/rule_options.ts";
import type { SavedRule, SavedTable } from "../xtables/save.ts";
import type { KeyOptions } from "../xtables/transaction.ts";

/** Parses the owned tables in the output of `nft list ruleset`. Chains have the names that they have in iptables. */
export function listedTables(listing: string, names: OwnerNames): SavedTable[] {
  const tables: { name: SavedTable["name"]; chains: string[]; rules: SavedRule[] }[] = [];
  let table: typeof tables[number] | undefined;
  let chain: string | undefined;
  for (const raw of listing.split("\n")) {
    const line = raw.trim().replace(/ # handle \d+$/, "");
    const begun = /^chain (\S+) \{$/.exec(line)?.[1];
    if (line.startsWith("table ")) {
      const own = NFT_TABLES.find(({ name }) => line === `table inet ${name} {`);
      table = own === undefined ? undefined : { name: own.table, chains: [], rules: [] };
      if (table !== undefined) tables.push(table);
    } else if (begun !== undefined) table?.chains.push(chain = iptablesChain(begun));
    else if (line === "}") chain = undefined;
    else if (chain !== undefined && !/^(type|policy|#|$)/.test(line)) table?.rules.push(listedRule(chain, line, names));
  }
  return tables;
}

function listedRule(chain: string, line: string, names: OwnerNames): SavedRule {
  const packets = /\bcounter packets (\d+) bytes \d+/.exec(line)?.[1];
  const rule = nftSavedRule(chain, line.replace(/\bcounter packets \d+ bytes \d+/, "counter"), names);
  return packets === undefined ? rule : { ...rule, packets: Number(packets) };
}

/** Returns the owned tables in the kernel. Chains have the names that they have in iptables. */
export function heldTables({ tables }: Pick<Ruleset, "tables">, names: OwnerNames): SavedTable[] {
  return NFT_TABLES.flatMap(({ table, name }) => {
    const chains = [...tables.get(`inet ${name}`)?.chains ?? []]
      .map(([chain, { rules }]) => ({ chain: iptablesChain(chain), rules }));
    const rules = chains.flatMap(({ chain, rules }) =>
      rules.map((rule) => nftSavedRule(chain, listedText(rule), names))
    );
    return tables.has(`inet ${name}`) ? [{ name: table, chains: chains.map(({ chain }) => chain), rules }] : [];
  });
}

/** Returns a planned rule as it is read back from the kernel. */
export function wantedRule(rule: Rule, options: KeyOptions): SavedRule {
  return nftSavedRule(rule.chain, nftRule(rule, options), options.names);
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

function iptablesChain(chain: string): string {
  return chain.toUpperCase().replaceAll("-", "_");
}

type Option = readonly [name: string, value: string];

/** Parses a rule of nft as options of iptables: `tcp dport != 53 counter return` as `-p tcp ! --dport 53 -j RETURN`. */
function nftSavedRule(chain: string, text: string, names: OwnerNames): SavedRule {
  const [quoted = "", comment] = / comment "([^"]*)"$/.exec(text) ?? [];
  const plain = text.slice(0, text.length - quoted.length).replaceAll('"', "");
  const [matches = "", target = ""] = plain.split(/ ?\bcounter\b ?/);
  const [conditions = "", redirection] = matches.split(/(?=tproxy )/);
  const unknown = conditions.replaceAll(CONDITION, "").trim();
  const entries: Option[] = [
    ...[...conditions.matchAll(CONDITION)].flatMap(conditionOptions),
    ...unknown === "" ? [] : [["?", unknown] as const],
    ...outcomeOptions(redirection === undefined ? target : `${redirection} ${target}`),
    ...comment === undefined ? [] : [["comment", comment] as const],
  ];
  const options = normalOptions(new Map(entries), names);
  const family: Family | undefined = /\bip6 /.test(conditions) ? 6 : /\bip /.test(conditions) ? 4 : undefined;
  return { chain, text, options, key: `${family ?? "any"} ${ruleKey(options)}`, family };
}

const CONDITION =
  /(?:(meta|ip6?|tcp|udp|ct) )?(iifname|oifname|l4proto|skuid|skgid|mark|saddr|daddr|dport|sport|state)( !=)? (\{ [^}]* \}|\S+)/g;

const OPTION_OF: Readonly<Record<string, string>> = {
  iifname: "i",
  oifname: "o",
  l4proto: "p",
  skuid: "uid-owner",
  skgid: "gid-owner",
  saddr: "s",
  daddr: "d",
  state: "ctstate",
};

/** A port condition implies its protocol, which nft prints only in some rules. */
function conditionOptions([, of = "", field = "", not, value = ""]: RegExpExecArray): Option[] {
  const name = of === "ct" && field === "mark" ? "connmark" : OPTION_OF[field] ?? field;
  const option: Option = [name, `${not === undefined ? "" : "!"}${plainValue(value, field)}`];
  return of === "tcp" || of === "udp" ? [["p", of], option] : [option];
}

function plainValue(value: string, field: string): string {
  if (field.endsWith("ifname")) return value.replace(/\*$/, "+");
  const items = value.replaceAll(/[{}\s]/g, "").split(",");
  return items.sort((a, b) => parseInt(a, 10) - parseInt(b, 10)).join(",");
}

type Outcome = readonly [pattern: RegExp, options: (first: string, second: string) => readonly Option[]];

const OUTCOMES: readonly Outcome[] = [
  [/^jump (\S+)$/, (chain) => [["j", iptablesChain(chain)]]],
  [/^goto (\S+)$/, (chain) => [["g", iptablesChain(chain)]]],
  [/^redirect to :(\d+)$/, (port) => [["j", "REDIRECT"], ["to-ports", port]]],
  [
    /^tproxy ip6? to :(\d+) (?:meta )?mark set (\w+) accept$/,
    (port, mark) => [["j", "TPROXY"], ["on-port", port], ["tproxy-mark", mark]],
  ],
  [/^(?:meta )?mark set ct mark$/, () => [["j", "CONNMARK"], ["restore-mark", ""]]],
  [/^ct mark set (?:meta )?mark$/, () => [["j", "CONNMARK"], ["save-mark", ""]]],
  [/^(?:meta )?mark set (\w+)$/, (mark) => [["j", "MARK"], ["set-xmark", mark]]],
  [/^ct zone set (\d+)$/, (zone) => [["j", "CT"], ["zone", zone]]],
];

/** Returns the options of a verdict or statement. An unknown statement never equals a planned statement. */
function outcomeOptions(outcome: string): readonly Option[] {
  for (const [pattern, options] of OUTCOMES) {
    const [, first = "", second = ""] = pattern.exec(outcome) ?? [];
    if (pattern.test(outcome)) return options(first, second);
  }
  return outcome === "" ? [] : [["j", outcome.toUpperCase()]];
}
