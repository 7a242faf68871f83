/** Changes the tables of iptables-nft and the owned nftables tables in one kernel transaction. */
import type { SystemCalls } from "../../platform/mod.ts";
import { compatRule } from "../kernel/xtables/compat_rule.ts";
import { isOwnedChain } from "../kernel/xtables/save.ts";
import {
  changesText,
  orderedRules,
  plannedChains,
  type TableChange as XtablesChange,
} from "../kernel/xtables/transaction.ts";
import { commentData, nativeRule } from "../kernel/nftables/native_rule.ts";
import type { KernelRule, Ruleset } from "../kernel/netfilter/ruleset.ts";
import { changeRuleset, type NewRule, type TableChange, type WantedChain } from "../kernel/netfilter/transaction.ts";
import { baseChain, type Family, isBuiltIn, type Plan, type Rule, TABLE_FAMILY } from "../plan/rule.ts";
import { NFT_TABLES, nftChain, nftChains, nftRule } from "../views/nft.ts";
import { chainsOf, commentOf, ruleLine } from "../views/restore.ts";
import { nativeDifferences, nativeText, presentTables } from "./nft_steps.ts";
import { iptablesProgram } from "./programs.ts";
import type { Survey } from "./survey.ts";
import { familyChanges, familyDifferences, type RuleSteps, type WriteOptions } from "./rule_steps.ts";
import type { Step } from "./steps.ts";

/** The plans for both back ends in nf_tables. If a plan is `undefined`, the owned rules of its back end are deleted. */
export interface NetlinkPlans {
  readonly iptables: Plan | undefined;
  readonly native: Plan | undefined;
}

/** Returns the step that changes all rules in nf_tables. */
export function netlinkSteps(
  system: SystemCalls,
  found: Survey,
  plans: NetlinkPlans,
  options: WriteOptions,
): RuleSteps {
  const { ruleset } = found;
  if (ruleset === undefined) return { checks: [], steps: [], differences: [], tables: [] };
  const parts = familyChanges(found, { holds: "nft", plan: plans.iptables }, options);
  const native = nativeDifferences(found, plans.native, options);
  const changes = [
    ...parts.flatMap((part) => part.changes.map((change) => ofXtables(ruleset, part.family, change, options))),
    ...native.length > 0 ? nativeChanges(found, plans.native, options) : [],
  ];
  const texts = [
    ...parts.map(({ family, changes }) => {
      const command = `${iptablesProgram("nft", family, "restore")} --noflush`;
      return `${command} with the following input:\n${changesText(changes, options)}`;
    }),
    ...native.length > 0 ? [`nft -f - with the following input:\n${nativeText(found, plans.native, options)}`] : [],
  ];
  const step: Step = {
    what: texts,
    run: () => changeRuleset(system, ruleset, changes),
    // A failed transaction leaves the rules unchanged.
    undo() {},
    isCommit: true,
  };
  const differences = [...native, ...familyDifferences(parts)];
  return { checks: [], steps: changes.length === 0 ? [] : [step], differences, tables: [] };
}

function ofXtables(ruleset: Ruleset, family: Family, change: XtablesChange, options: WriteOptions): TableChange {
  const table = `${TABLE_FAMILY[family]} ${change.table}`;
  const held = ruleset.tables.get(table)?.chains;
  const deleted = new Set(change.deleted.map(({ kernel }) => kernel));
  const builtIn = new Set([...change.rules, ...change.deleted].map(({ chain }) => chain).filter(isBuiltIn));
  const newRule = (rule: Rule): NewRule => ({
    expressions: compatRule(rule, family, options),
    userData: undefined,
    text: `-t ${change.table} ${ruleLine(rule, options)}`,
  });
  const chain = (name: string): WantedChain => {
    const kept = isOwnedChain(name) ? [] : (held?.get(name)?.rules ?? []).filter((rule) => !deleted.has(rule));
    const rules = orderedRules<KernelRule | NewRule>(kept, change.rules.filter((rule) => rule.chain === name), newRule);
    return { name, base: baseChain(change.table, name), policy: "accept", rules };
  };
  return {
    table,
    isReplaced: false,
    chains: [...chainsOf(change.rules), ...builtIn].map(chain),
    deleted: change.stale,
  };
}

function nativeChanges(found: Survey, plan: Plan | undefined, options: WriteOptions): TableChange[] {
  const present = presentTables(found);
  return NFT_TABLES.flatMap(({ table, name }) => {
    const rules = plan?.rules.filter((rule) => rule.table === table) ?? [];
    if (rules.length === 0 && !present.includes(name)) return [];
    const newRule = (rule: Rule): NewRule => ({
      expressions: nativeRule(rule, options.names),
      userData: options.comments === true ? commentData(commentOf(rule)) : undefined,
      text: `inet ${name} ${nftChain(rule.chain)} ${nftRule(rule)}`,
    });
    const planned = plannedChains(rules, newRule);
    const chains = nftChains(rules).map((chain): WantedChain => ({
      name: nftChain(chain),
      base: baseChain(table, chain),
      rules: planned.get(chain) ?? [],
    }));
    return [{ table: `inet ${name}`, isReplaced: true, chains, deleted: [] }];
  });
}
