/** Computes the changes for one family of one back end, as the input of one `iptables-restore --noflush`. */
import { BUILT_IN_CHAINS, type Family, type Plan, type Rule, rulesOf, type Table } from "../../plan/rule.ts";
import { chainsOf, ruleLine, type RuleTextOptions } from "../../views/restore.ts";
import type { OwnerNames } from "./rule_options.ts";
import { isOwnedChain, type SavedRule, savedRule, type SavedTable } from "./save.ts";

export type KeyOptions = RuleTextOptions & { readonly names: OwnerNames };

export interface Difference {
  readonly table: Table;
  readonly chain: string;
  readonly what: "missing" | "unexpected" | "order";
  readonly rule: string;
}

export interface TableChange {
  readonly table: Table;
  readonly differences: readonly Difference[];
  /** The planned rules, which are all written. */
  readonly rules: readonly Rule[];
  /** Owned chains to delete, because the plan does not use them. */
  readonly stale: readonly string[];
  /** Owned rules to delete from built-in chains. */
  readonly deleted: readonly SavedRule[];
}

/** The tables in the kernel, and the owned rules in their built-in chains. */
export interface HeldTables {
  readonly tables: readonly SavedTable[];
  readonly owned: ReadonlySet<SavedRule>;
}

export const NOTHING_HELD: HeldTables = { tables: [], owned: new Set() };

/** Formats a difference, with its family, table and chain. */
export function differenceText({ table, chain, what, rule }: Difference, family: Family): string {
  const place = `IPv${family}, table ${table}, chain ${chain}`;
  return what === "order"
    ? `${place}: the order of the rules differs, starting at ${rule}`
    : `${place}: ${what}: ${rule}`;
}

/** Returns the final order of a chain: the `kept` rules, with the planned rules at their positions. */
export function orderedRules<T>(kept: readonly T[], planned: readonly Rule[], make: (rule: Rule) => T): T[] {
  const list = [...kept];
  for (const rule of planned) list.splice(rule.insertAt === undefined ? list.length : rule.insertAt - 1, 0, make(rule));
  return list;
}

/**
 * Orders the tables, which the kernel changes one at a time. New rules come before the removal of old rules, so that no
 * connection escapes in between, and conntrack zones come before the redirection of DNS.
 */
function tableOrder(rules: readonly Rule[]): Table[] {
  const has = (table: Table) => rules.some((rule) => rule.table === table);
  const early: Table[] = has("raw") ? ["raw"] : [];
  if (rules.some(({ target }) => target.kind === "tproxy")) early.push("mangle");
  return [...new Set<Table>([...early, "nat", "mangle", "raw", "filter"])];
}

/** Returns the changes of each table that differs from the plan. */
export function tableChanges(
  plan: Plan | undefined,
  family: Family,
  held: HeldTables,
  options: KeyOptions,
): TableChange[] {
  const rules = plan === undefined ? [] : rulesOf(plan, family);
  return tableOrder(rules).flatMap((table) => {
    const saved = held.tables.find(({ name }) => name === table) ?? { name: table, chains: [], rules: [] };
    const planned = rules.filter((rule) => rule.table === table);
    const wanted = wantedChains(planned, options);
    const owned = withPlanned(saved, held.owned, wanted);
    const differences = compare(table, wanted, chainKeys(saved, owned));
    if (differences.length === 0) return [];
    const needed = chainsOf(planned);
    const stale = saved.chains.filter((chain) => isOwnedChain(chain) && !needed.includes(chain));
    const deleted = saved.rules.filter((rule) => !isOwnedChain(rule.chain) && owned.has(rule));
    return [{ table, differences, rules: planned, stale, deleted }];
  });
}

/**
 * Returns the owned rules. In a table with owned chains, a rule that equals a planned rule also counts as owned. If the
 * table contains more equal rules than the plan, the surplus is foreign.
 */
function withPlanned(
  saved: SavedTable,
  owned: ReadonlySet<SavedRule>,
  wanted: ReadonlyMap<string, readonly KeyedRule[]>,
): ReadonlySet<SavedRule> {
  if (!saved.chains.some(isOwnedChain)) return owned;
  const placed = [...wanted].filter(([chain]) => !isOwnedChain(chain)).flatMap(([chain, rules]) =>
    [...new Set(rules.map(({ key }) => key))].flatMap((key) => {
      const alike = saved.rules.filter((rule) => rule.chain === chain && rule.key === key);
      const lacking = rules.filter((rule) => rule.key === key).length - alike.filter((rule) => owned.has(rule)).length;
      return alike.filter((rule) => !owned.has(rule)).slice(0, Math.max(0, lacking));
    })
  );
  return new Set([...owned, ...placed]);
}

/** Returns the input for `iptables-restore`, or `""` if there are no changes. */
export function changesText(changes: readonly TableChange[], options: RuleTextOptions): string {
  return changes.map((change) => `${[`*${change.table}`, ...changeLines(change, options), "COMMIT"].join("\n")}\n`)
    .join("");
}

/** Returns the chains of a plan, with their rules in the final order. */
export function wantedChains(rules: readonly Rule[], options: KeyOptions): ReadonlyMap<string, readonly KeyedRule[]> {
  const chains = new Map<string, KeyedRule[]>(chainsOf(rules).map((chain) => [chain, []]));
  for (const rule of rules) {
    const chain = chains.get(rule.chain) ?? [];
    chains.set(rule.chain, chain);
    const text = ruleLine({ ...rule, insertAt: 0 }, options).replace(/^-I \S+ 0 ?/, "");
    const at = rule.insertAt === undefined ? chain.length : rule.insertAt - 1;
    chain.splice(at, 0, { key: savedRule(rule.chain, text, options.names).key, text });
  }
  return chains;
}

interface KeyedRule {
  readonly key: string;
  readonly text: string;
}

function chainKeys(saved: SavedTable, owned: ReadonlySet<SavedRule>): ReadonlyMap<string, readonly KeyedRule[]> {
  const chains = new Map<string, KeyedRule[]>(saved.chains.filter(isOwnedChain).map((chain) => [chain, []]));
  for (const rule of saved.rules) {
    if (!isOwnedChain(rule.chain) && !owned.has(rule)) continue;
    chains.set(rule.chain, [...chains.get(rule.chain) ?? [], rule]);
  }
  return chains;
}

function compare(
  table: Table,
  wanted: ReadonlyMap<string, readonly KeyedRule[]>,
  owned: ReadonlyMap<string, readonly KeyedRule[]>,
): Difference[] {
  const names = new Set([...wanted.keys(), ...owned.keys()]);
  return [...names].flatMap((chain): Difference[] => {
    const held = owned.get(chain);
    const planned = wanted.get(chain);
    const found = compareChain(table, chain, planned ?? [], held ?? []);
    const needsChain = !BUILT_IN_CHAINS.has(chain) && (planned === undefined) !== (held === undefined);
    if (found.length > 0 || !needsChain) return found;
    return [{ table, chain, what: planned === undefined ? "unexpected" : "missing", rule: `the chain ${chain}` }];
  });
}

function compareChain(
  table: Table,
  chain: string,
  wanted: readonly KeyedRule[],
  held: readonly KeyedRule[],
): Difference[] {
  const missing = without(wanted, held).map(({ text }) =>
    ({ table, chain, what: "missing", rule: `-A ${chain} ${text}` }) as const
  );
  const extra = without(held, wanted).map(({ text }) =>
    ({ table, chain, what: "unexpected", rule: `-A ${chain} ${text}` }) as const
  );
  const at = wanted.findIndex(({ key }, place) => held[place]?.key !== key);
  const isOrder = missing.length === 0 && extra.length === 0 && at >= 0;
  return isOrder ? [{ table, chain, what: "order", rule: `-A ${chain} ${held[at]?.text}` }] : [...missing, ...extra];
}

/** Returns the rules of `list` without the rules of `other`. Each rule in `other` removes at most one equal rule. */
function without(list: readonly KeyedRule[], other: readonly KeyedRule[]): KeyedRule[] {
  const left = new Map<string, number>();
  for (const { key } of other) left.set(key, (left.get(key) ?? 0) + 1);
  return list.filter(({ key }) => {
    const count = left.get(key) ?? 0;
    left.set(key, count - 1);
    return count <= 0;
  });
}

/**
 * Declares each chain, which creates or flushes it; deletes owned rules in built-in chains; adds all rules; deletes
 * unused chains. The kernel commits each table in one step.
 */
function changeLines({ rules, stale, deleted }: TableChange, options: RuleTextOptions): string[] {
  return [
    ...[...chainsOf(rules), ...stale].map((chain) => `:${chain} - [0:0]`),
    ...deleted.map(({ chain, text }) => `-D ${chain} ${text}`),
    ...rules.map((rule) => ruleLine(rule, options)),
    ...stale.map((chain) => `-X ${chain}`),
  ];
}

/**
 * Returns the input of iptables-restore that restores the owned rules, or `""` if nothing differs. In built-in chains
 * each rule gets its old position, counted from the start of the chain, even if foreign rules have changed since.
 */
export function returnText(now: HeldTables, before: HeldTables): string {
  const names = new Set([...now.tables, ...before.tables].map(({ name }) => name));
  return [...names].map((name) => tableReturnText(name, tableOf(now, name), tableOf(before, name))).join("");
}

interface Side {
  readonly saved: SavedTable;
  readonly owned: ReadonlySet<SavedRule>;
}

function tableOf({ tables, owned }: HeldTables, name: Table): Side {
  return { saved: tables.find((table) => table.name === name) ?? { name, chains: [], rules: [] }, owned };
}

function tableReturnText(name: Table, now: Side, before: Side): string {
  const content = ({ saved, owned }: Side) =>
    [...chainKeys(saved, owned)].map(([chain, rules]) => [chain, ...rules.map(({ text }) => text)].join("\n")).sort();
  if (content(now).join("\n\n") === content(before).join("\n\n")) return "";
  const chains = before.saved.chains.filter(isOwnedChain);
  const added = now.saved.chains.filter((chain) => isOwnedChain(chain) && !chains.includes(chain));
  const lines = [
    ...[...chains, ...added].map((chain) => `:${chain} - [0:0]`),
    ...now.saved.rules.filter((rule) => now.owned.has(rule)).map(({ chain, text }) => `-D ${chain} ${text}`),
    ...before.saved.rules.filter(({ chain }) => isOwnedChain(chain)).map(({ chain, text }) => `-A ${chain} ${text}`),
    ...placedRules(now, before),
    ...added.map((chain) => `-X ${chain}`),
  ];
  return `${[`*${name}`, ...lines, "COMMIT"].join("\n")}\n`;
}

/**
 * Returns the lines that insert owned rules into built-in chains: at the old position, or at the end if the chain is
 * now shorter.
 */
function placedRules(now: Side, before: Side): string[] {
  const lengths = new Map<string, number>();
  for (const rule of now.saved.rules) {
    if (!now.owned.has(rule)) lengths.set(rule.chain, (lengths.get(rule.chain) ?? 0) + 1);
  }
  const places = new Map<string, number>();
  return before.saved.rules.filter(({ chain }) => !isOwnedChain(chain)).flatMap((rule) => {
    const place = (places.get(rule.chain) ?? 0) + 1;
    places.set(rule.chain, place);
    if (!before.owned.has(rule)) return [];
    const length = lengths.get(rule.chain) ?? 0;
    lengths.set(rule.chain, length + 1);
    return [`-I ${rule.chain} ${Math.min(place, length + 1)} ${rule.text}`];
  });
}
