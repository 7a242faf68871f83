/** What `iptables-save` prints, as data. */
import type { Table } from "../../plan/rule.ts";
import { type OwnerNames, ruleKey, type RuleOptions, ruleOptions, wordsOf } from "./rule_options.ts";

/** A rule in the kernel. */
export interface SavedRule {
  readonly chain: string;
  /** The line without `-A CHAIN`, as it was printed: it deletes exactly this rule. */
  readonly text: string;
  readonly options: RuleOptions;
  readonly key: string;
}

/** A table in the kernel. */
export interface SavedTable {
  readonly name: Table;
  /** Chains that somebody made, not those of the kernel. */
  readonly chains: readonly string[];
  readonly rules: readonly SavedRule[];
}

/** Whether a chain is one of ours: `ISTIO_` stands before every one that any release made. */
export function isOurChain(chain: string): boolean {
  return chain.startsWith("ISTIO_");
}

const TABLES: ReadonlySet<string> = new Set(["nat", "mangle", "raw", "filter"]);

/** The tables of such a text that we may have rules in; others (`security`) are left out. */
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
  const [, of, text] = /^(?:\[\d+:\d+\] )?-A (\S+) ?(.*)$/.exec(line) ?? [];
  if (of !== undefined && text !== undefined) table.rules.push(savedRule(of, text, names));
}

type Reading = Pick<SavedRule, "options" | "key">;

/** Texts that were read: those of IPv6 are mostly those of IPv4 again. */
const READ = new WeakMap<OwnerNames, Map<string, Reading>>();

/** A rule out of the words behind `-A CHAIN`. */
export function savedRule(chain: string, text: string, names: OwnerNames): SavedRule {
  const known = READ.get(names) ?? new Map<string, Reading>();
  READ.set(names, known);
  const reading = known.get(text) ?? read(text, names);
  known.set(text, reading);
  return { chain, text, ...reading };
}

function read(text: string, names: OwnerNames): Reading {
  const options = ruleOptions(wordsOf(text), names);
  return { options, key: ruleKey(options) };
}
