/** Reads the owned rules of any back end as iptables options. */
import type { Survey } from "../apply/survey.ts";
import type { RuleOptions } from "../kernel/xtables/rule_options.ts";
import { isOwnedChain } from "../kernel/xtables/save.ts";
import type { Family, Table } from "../plan/rule.ts";
import { NFT_TABLES } from "../views/nft.ts";

export interface HeldRule {
  /** The address family; `undefined` for an nftables rule for both families. */
  readonly family: Family | undefined;
  readonly table: Table;
  /** The chain as iptables spells it, such as `ISTIO_OUTPUT` or `PREROUTING`. */
  readonly chain: string;
  readonly options: RuleOptions;
}

/** Returns all owned rules, IPv4 first. */
export function heldRules({ holdings, nft }: Pick<Survey, "holdings" | "nft">): HeldRule[] {
  const inIptables = holdings.flatMap(({ family, tables, owned }) =>
    tables.flatMap(({ name, rules }) =>
      rules.filter((rule) => owned.has(rule) || isOwnedChain(rule.chain))
        .map(({ chain, options }): HeldRule => ({ family, table: name, chain, options }))
    )
  );
  const inNft = NFT_TABLES.flatMap(({ table, name }) =>
    [...nft.get(name) ?? []].flatMap(([chain, keys]) => keys.map((key) => ofNft(table, chain, key)))
  );
  return [...inIptables.toSorted((a, b) => (a.family ?? 0) - (b.family ?? 0)), ...inNft];
}

/** Converts an nftables rule, given its key, to iptables options. */
export function ofNft(table: Table, chain: string, key: string): HeldRule {
  const [conditions = "", outcome = ""] = key.replace(/ # .*$/s, "").split(" => ");
  return {
    family: /\bip6 /.test(conditions) ? 6 : /\bip /.test(conditions) ? 4 : undefined,
    table,
    chain: chain.toUpperCase().replaceAll("-", "_"),
    options: new Map([...conditions.split("; ").flatMap(conditionOptions), ...outcomeOptions(outcome)]),
  };
}

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

type Option = readonly [name: string, value: string];

/** Converts an nftables condition: `tcp dport != 53` becomes `-p tcp ! --dport 53`. */
function conditionOptions(condition: string): Option[] {
  const [, of = "", field = "", not, value = ""] = /^(?:(ip6?|tcp|udp|ct) )?(\w+)( !=)? (.*)$/.exec(condition) ?? [];
  if (field === "") return [];
  const text = field.endsWith("ifname") ? value.replace(/\*$/, "+") : value;
  const name = of === "ct" && field === "mark" ? "connmark" : OPTION_OF[field] ?? field;
  const option: Option = [name, `${not === undefined ? "" : "!"}${text}`];
  return of === "tcp" || of === "udp" ? [["p", of], option] : [option];
}

function outcomeOptions(outcome: string): Option[] {
  const [, verb = outcome, rest = ""] = /^(jump|redirect|tproxy) (.*)$/.exec(outcome) ?? [];
  const port = /:(\d+)/.exec(rest)?.[1] ?? "";
  switch (verb) {
    case "jump":
      return [["j", rest.toUpperCase().replaceAll("-", "_")]];
    case "redirect":
      return [["j", "REDIRECT"], ["to-ports", port]];
    case "tproxy":
      return [["j", "TPROXY"], ["on-port", port], ["tproxy-mark", /mark set (\d+)/.exec(rest)?.[1] ?? ""]];
    default:
      return marking(outcome) ?? [["j", verb.toUpperCase()]];
  }
}

/** Converts outcomes that set a mark or a zone, after which the packet continues with the next rule. */
function marking(outcome: string): Option[] | undefined {
  const [, mark] = /^(?:meta )?mark set (0x[0-9a-f]+|\d+)$/.exec(outcome) ?? [];
  if (mark !== undefined) return [["j", "MARK"], ["set-xmark", mark]];
  if (/^ct zone set /.test(outcome)) return [["j", "CT"]];
  return /^(ct mark set|(meta )?mark set ct)/.test(outcome) ? [["j", "CONNMARK"]] : undefined;
}
