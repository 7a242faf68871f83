/** Changes the owned nftables tables with the program nft. */
import { type NftContent, wantedContent } from "../kernel/nftables/content.ts";
import type { World } from "../../platform/world.ts";
import type { Plan } from "../plan/rule.ts";
import { NFT_TABLES, nftText } from "../views/nft.ts";
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
  return plan === undefined
    ? presentTables(survey).map((name) => `unexpected table inet ${name}`)
    : compare(wantedContent(plan, options), survey.nft);
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

function compare(wanted: NftContent, held: NftContent): string[] {
  return [...new Set([...wanted.keys(), ...held.keys()])].flatMap((table) => {
    if (!wanted.has(table)) return [`unexpected table inet ${table}`];
    const chains = new Set([...wanted.get(table)?.keys() ?? [], ...held.get(table)?.keys() ?? []]);
    return [...chains].flatMap((chain) =>
      compareChain(`table inet ${table}, chain ${chain}`, wanted.get(table)?.get(chain), held.get(table)?.get(chain))
    );
  });
}

function compareChain(
  place: string,
  wanted: readonly string[] | undefined,
  held: readonly string[] | undefined,
): string[] {
  if (wanted === undefined || held === undefined) {
    return [`${place}: ${wanted === undefined ? "unexpected" : "missing"}`];
  }
  const missing = wanted.filter((key) => !held.includes(key)).map((key) => `${place}: missing: ${key}`);
  const extra = held.filter((key) => !wanted.includes(key)).map((key) => `${place}: unexpected: ${key}`);
  const differs = wanted.join("\n") !== held.join("\n");
  return missing.length + extra.length === 0 && differs
    ? [`${place}: order or number of rules differs`]
    : [...missing, ...extra];
}
