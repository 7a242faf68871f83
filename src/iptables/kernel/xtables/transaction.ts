/** Computes the changes for one family of one back end, as the input of one `iptables-restore --noflush`. */
import { type Family, type Plan, type Rule, rulesOf, type Table, TABLES } from "../../plan/rule.ts";
import { chainsOf, ruleLine, type RuleTextOptions } from "../../views/restore.ts";
import type { OwnerNames } from "./rule_options.ts";
import { isOwnedChain, type SavedRule, savedRule, type SavedTable } from "./save.ts";

export type KeyOptions = RuleTextOptions & { readonly names: OwnerNames };

export interface TableChange {
  readonly table: Table;
  /** One line for each difference. */
  readonly differences: readonly string[];
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

/** Returns the final order of a chain: the `kept` rules, with the planned rules at their positions. */
export function orderedRules<T>(kept: readonly T[], planned: readonly Rule[], make: (rule: Rule) => T): T[] {
  const list = [...kept];
  for (const rule of planned) list.splice(rule.insertAt === undefined ? list.length : rule.insertAt - 1, 0, make(rule));
  return list;
}

/** Returns the chains of a table, with their rules in the final order. */
export function plannedChains<T>(rules: readonly Rule[], make: (rule: Rule) => T): ReadonlyMap<string, readonly T[]> {
  const names = new Set([...chainsOf(rules), ...rules.map(({ chain }) => chain)]);
  return new Map(
    [...names].map((name) => [name, orderedRules([], rules.filter(({ chain }) => chain === name), make)]),
  );
}

/** Returns a planned rule as `iptables-save` prints it. */
export function plannedRule(rule: Rule, options: KeyOptions): SavedRule {
  const text = ruleLine({ ...rule, insertAt: 0 }, options).replace(/^-I \S+ 0 ?/, "");
  return savedRule(rule.chain, text, options.names);
}

/**
 * Orders the tables, which the kernel changes one at a time. New rules come before the removal of old rules, so that no
 * connection escapes in between, and conntrack zones come before the redirection of DNS.
 */
function tableOrder(rules: readonly Rule[]): Table[] {
  const has = (table: Table) => rules.some((rule) => rule.table === table);
  const early: Table[] = has("raw") ? ["raw"] : [];
  if (rules.some(({ target }) => target.kind === "tproxy")) early.push("mangle");
  return [...new Set([...early, ...TABLES])];
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
    const wanted = plannedChains(planned, (rule) => plannedRule(rule, options));
    const owned = withPlanned(saved, held.owned, wanted);
    const differences = differencesOf(wanted, ownedChains(saved, owned), {
      place: (chain) => `IPv${family}, table ${table}, chain ${chain}`,
      rule: ({ chain, text }) => `-A ${chain} ${text}`,
    });
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
  wanted: Chains,
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

/** Rules in order, by chain. */
type Chains = ReadonlyMap<string, readonly SavedRule[]>;

/** Returns the owned chains, and the owned rules of built-in chains. */
export function ownedChains(saved: SavedTable, owned: ReadonlySet<SavedRule>): Chains {
  const chains = new Map<string, SavedRule[]>(saved.chains.filter(isOwnedChain).map((chain) => [chain, []]));
  for (const rule of saved.rules) {
    if (!isOwnedChain(rule.chain) && !owned.has(rule)) continue;
    chains.set(rule.chain, [...chains.get(rule.chain) ?? [], rule]);
  }
  return chains;
}

/** How a line names a chain and a rule. */
interface Naming {
  readonly place: (chain: string) => string;
  readonly rule: (rule: SavedRule) => string;
}

/** Compares the chains of a table, and returns a line for each difference. */
export function differencesOf(wanted: Chains, held: Chains, naming: Naming): string[] {
  return [...new Set([...wanted.keys(), ...held.keys()])].flatMap((chain) => {
    const [planned, present] = [wanted.get(chain), held.get(chain)];
    const place = naming.place(chain);
    const found = chainDifferences(planned ?? [], present ?? [], naming.rule);
    if (found.length > 0 || (planned === undefined) === (present === undefined)) {
      return found.map((what) => `${place}: ${what}`);
    }
    return [`${place}: ${planned === undefined ? "unexpected" : "missing"}`];
  });
}

function chainDifferences(wanted: readonly SavedRule[], held: readonly SavedRule[], show: Naming["rule"]): string[] {
  const different = [
    ...without(wanted, held).map((rule) => `missing: ${show(rule)}`),
    ...without(held, wanted).map((rule) => `unexpected: ${show(rule)}`),
  ];
  if (different.length > 0) return different;
  const moved = held.find(({ key }, at) => wanted[at]?.key !== key);
  return moved === undefined ? [] : [`the order of the rules differs, starting at ${show(moved)}`];
}

/** Returns the rules of `list` without the rules of `other`. Each rule in `other` removes at most one equal rule. */
function without(list: readonly SavedRule[], other: readonly SavedRule[]): SavedRule[] {
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
    [...ownedChains(saved, owned)].map(([chain, rules]) => [chain, ...rules.map(({ text }) => text)].join("\n")).sort();
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
