/** Parses the output of `iptables-save`. */
import type { Table } from "../../plan/rule.ts";
import type { KernelRule } from "../netfilter/ruleset.ts";
import { argumentsOf, type OwnerNames, ruleKey, type RuleOptions, ruleOptions } from "./rule_options.ts";

export interface SavedRule {
  readonly chain: string;
  /** The printed line without `-A CHAIN`. With this text, `-D` deletes exactly this rule. */
  readonly text: string;
  readonly options: RuleOptions;
  readonly key: string;
  /** The number of packets that matched the rule; absent in a text without counters. */
  readonly packets?: number;
  /** The rule in the kernel, if read over netlink. */
  readonly kernel?: KernelRule;
}

export interface SavedTable {
  readonly name: Table;
  /** The user-defined chains. */
  readonly chains: readonly string[];
  readonly rules: readonly SavedRule[];
}

/** Whether a chain is owned, that is, starts with `ISTIO_`, the prefix of every Istio release. */
export function isOwnedChain(chain: string): boolean {
  return chain.startsWith("ISTIO_");
}

const TABLES: ReadonlySet<string> = new Set(["nat", "mangle", "raw", "filter"]);

/** Parses the tables that can contain owned rules: all except `security`. */
export function parseSave(text: string, names: OwnerNames): SavedTable[] {
  const tables: { name: Table; chains: string[]; rules: SavedRule[] }[] = [];
  let table: { name: Table; chains: string[]; rules: SavedRule[] } | undefined;
  for (const line of text.split("\n")) {
    if (line.startsWith("*")) {
      const name = line.slice(1).trim();
      table = isTable(name) ? { name, chains: [], rules: [] } : undefined;
      if (table !== undefined) tables.push(table);
    } else if (table !== undefined) readLine(table, line, names);
  }
  return tables;
}

function isTable(name: string): name is Table {
  return TABLES.has(name);
}

function readLine(table: { chains: string[]; rules: SavedRule[] }, line: string, names: OwnerNames): void {
  const chain = /^:(\S+) -/.exec(line)?.[1];
  if (chain !== undefined) table.chains.push(chain);
  const [, packets, of, text = ""] = /^(?:\[(\d+):\d+\] )?-A (\S+)(?: (.*))?$/.exec(line) ?? [];
  if (of === undefined) return;
  const rule = savedRule(of, text, names);
  table.rules.push(packets === undefined ? rule : { ...rule, packets: Number(packets) });
}

type Reading = Pick<SavedRule, "options" | "key">;

/** A cache of parsed rules by text, because most IPv6 rules have the same text as the IPv4 rules. */
const READ = new WeakMap<OwnerNames, Map<string, Reading>>();

/** Parses a rule from its text after `-A CHAIN`. */
export function savedRule(chain: string, text: string, names: OwnerNames): SavedRule {
  const known = READ.get(names) ?? new Map<string, Reading>();
  READ.set(names, known);
  let reading = known.get(text);
  if (reading === undefined) {
    const options = ruleOptions(argumentsOf(text), names);
    known.set(text, reading = { options, key: ruleKey(options) });
  }
  return { chain, text, ...reading };
}
