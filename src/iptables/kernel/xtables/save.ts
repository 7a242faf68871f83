/** Parses the output of `iptables-save`. */
import { type Family, type Table, TABLES } from "../../plan/rule.ts";
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
  /** The address family of a rule in an nftables table; `undefined` for both families. */
  readonly family?: Family | undefined;
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

/** Parses the tables that can contain owned rules: all except `security`. */
export function parseSave(text: string, names: OwnerNames): SavedTable[] {
  const tables: { name: Table; chains: string[]; rules: SavedRule[] }[] = [];
  let table: { name: Table; chains: string[]; rules: SavedRule[] } | undefined;
  for (const line of text.split("\n")) {
    if (line.startsWith("*")) {
      const name = TABLES.find((each) => each === line.slice(1).trim());
      table = name === undefined ? undefined : { name, chains: [], rules: [] };
      if (table !== undefined) tables.push(table);
    } else if (table !== undefined) readLine(table, line, names);
  }
  return tables;
}

function readLine(table: { chains: string[]; rules: SavedRule[] }, line: string, names: OwnerNames): void {
  const chain = /^:(\S+) -/.exec(line)?.[1];
  if (chain !== undefined) table.chains.push(chain);
  const [, packets, of, text = ""] = /^(?:\[(\d+):\d+\] )?-A (\S+)(?: (.*))?$/.exec(line) ?? [];
  if (of === undefined) return;
  const rule = savedRule(of, text, names);
  table.rules.push(packets === undefined ? rule : { ...rule, packets: Number(packets) });
}

/** Parses a rule from its text after `-A CHAIN`. */
export function savedRule(chain: string, text: string, names: OwnerNames): SavedRule {
  const options = ruleOptions(argumentsOf(text), names);
  return { chain, text, options, key: ruleKey(options) };
}
