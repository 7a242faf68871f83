/** Changes the owned nftables tables with the program nft. */
import { wantedRule } from "../kernel/nftables/content.ts";
import { differencesOf, plannedChains } from "../kernel/xtables/transaction.ts";
import type { World } from "../../platform/world.ts";
import type { Plan } from "../plan/rule.ts";
import { NFT_TABLES, nftChain, nftText } from "../views/nft.ts";
import { runProgram } from "./programs.ts";
import type { RuleSteps, WriteOptions } from "./rule_steps.ts";
import type { Step } from "./steps.ts";
import type { Survey } from "./survey.ts";

/** Returns the steps that replace the owned nftables tables, or delete them if `plan` is `undefined`. */
export async function nftSteps(
  world: World,
  survey: Survey,
  plan: Plan | undefined,
  options: WriteOptions,
): Promise<RuleSteps> {
  const differences = nativeDifferences(survey, plan, options);
  if (differences.length === 0) return { checks: [], steps: [], differences, tables: [] };
  const present = presentTables(survey);
  const text = nativeText(survey, plan, options);
  const before = present.length === 0 ? "" : await runProgram(world, "nft", ["list", "ruleset", "inet"]);
  const step: Step = {
    what: [`nft -f - with the following input:\n${text}`],
    run: async () => void await runProgram(world, "nft", ["-f", "-"], text),
    undo: () => restore(world, before),
  };
  return {
    checks: [() => runProgram(world, "nft", ["-c", "-f", "-"], text)],
    steps: [step],
    differences,
    tables: [],
  };
}

/** Returns the names of the owned nftables tables in the kernel. */
export function presentTables({ ruleset }: Survey): string[] {
  return NFT_TABLES.map(({ name }) => name).filter((name) => ruleset?.tables.has(`inet ${name}`));
}

/** Lists the differences between the kernel and a plan. If `plan` is `undefined`, every owned table is a difference. */
export function nativeDifferences(survey: Survey, plan: Plan | undefined, options: WriteOptions): string[] {
  const native = survey.holdings.find(({ variant }) => variant === "native");
  return NFT_TABLES.flatMap(({ table, name }) => {
    const rules = plan?.rules.filter((rule) => rule.table === table) ?? [];
    const saved = native?.tables.find((held) => held.name === table);
    if (rules.length === 0) return saved === undefined ? [] : [`unexpected table inet ${name}`];
    // All chains of the table are owned, even chains without rules, because the policy of such a chain may drop
    // packets.
    const held = new Map(saved?.chains.map((chain) => [chain, saved.rules.filter((rule) => rule.chain === chain)]));
    return differencesOf(plannedChains(rules, (rule) => wantedRule(rule, options)), held, {
      place: (chain) => `table inet ${name}, chain ${nftChain(chain)}`,
      rule: ({ text }) => text,
    });
  });
}

/** Returns the input of `nft -f` that replaces the owned tables. */
export function nativeText(survey: Survey, plan: Plan | undefined, options: WriteOptions): string {
  return replacement(presentTables(survey)) + (plan === undefined ? "" : nftText(plan, options));
}

/** Deletes the tables in the transaction that creates them again, because the types of their chains may differ. */
function replacement(names: readonly string[]): string {
  return names.map((name) => `add table inet ${name}\ndelete table inet ${name}\n`).join("");
}

/** Restores the tables if they changed: an interrupted nft may have completed its transaction. */
async function restore(world: World, before: string): Promise<void> {
  const now = ownedTables(await runProgram(world, "nft", ["list", "ruleset", "inet"]));
  const owned = ownedTables(before);
  if (withoutCounts(now) === withoutCounts(owned)) return;
  await runProgram(world, "nft", ["-f", "-"], replacement(NFT_TABLES.map(({ name }) => name)) + owned);
}

function ownedTables(ruleset: string): string {
  const close = "\n}\n";
  return NFT_TABLES.map(({ name }) => {
    const start = `\n${ruleset}`.indexOf(`\ntable inet ${name} {\n`);
    const end = ruleset.indexOf(close, start);
    return start < 0 || end < 0 ? "" : ruleset.slice(start, end + close.length);
  }).join("");
}

function withoutCounts(ruleset: string): string {
  return ruleset.replaceAll(/counter packets \d+ bytes \d+/g, "counter");
}
