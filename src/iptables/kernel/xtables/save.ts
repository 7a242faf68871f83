/** The output of `iptables-save` as data. */
import type { Table } from "../../plan/rule.ts";
import type { KernelRule } from "../netfilter/ruleset.ts";
import { argumentsOf, type OwnerNames, ruleKey, type RuleOptions, ruleOptions } from "./rule_options.ts";

export interface SavedRule {
  readonly chain: string;
  /** The printed line without `-A CHAIN`: `-D` deletes exactly this rule. */
  readonly text: string;
  readonly options: RuleOptions;
  readonly key: string;
  /** Packets that it matched; absent in a text without counters. */
  readonly packets?: number;
  /** The rule in the kernel, if it was read by netlink. */
  readonly kernel?: KernelRule;
}

export interface SavedTable {
  readonly name: Table;
  /** User-defined chains, without the built-in ones. */
  readonly chains: readonly string[];
  readonly rules: readonly SavedRule[];
}

/** Whether a chain is owned: every release of Istio uses the prefix `ISTIO_`. */
export function isOwnedChain(chain: string): boolean {
  return chain.startsWith("ISTIO_");
}

const TABLES: ReadonlySet<string> = new Set(["nat", "mangle", "raw", "filter"]);

/** The tables of such a text that can hold owned rules; `security` is left out. */
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

/** Parsed rules by text: most IPv6 rules have the same text as the IPv4 rules. */
const READ = new WeakMap<OwnerNames, Map<string, Reading>>();

/** A rule from its text after `-A CHAIN`. */
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
