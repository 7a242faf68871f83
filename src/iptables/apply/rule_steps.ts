/** Rules: from what is held to what the plan wants, in every back end. */
import { heldContent, type NftContent, wantedContent } from "../kernel/nft_held.ts";
import type { OwnerNames } from "../kernel/rule_words.ts";
import { changesText, type Difference, type TableChange, tableChanges } from "../kernel/transaction.ts";
import type { World } from "../../core/world/world.ts";
import type { Family, Plan } from "../plan/rule.ts";
import { NFT_TABLES, nftText } from "../views/nft.ts";
import type { RuleTextOptions } from "../views/restore.ts";
import { iptablesProgram, runProgram, type Variant } from "./programs.ts";
import type { Step } from "./steps.ts";
import type { Holding, Survey } from "./survey.ts";

/** Steps that change rules, the texts that are proved before the first, and what they repair. */
export interface RuleSteps {
  readonly checks: readonly (() => Promise<void>)[];
  readonly steps: readonly Step[];
  readonly differences: readonly string[];
}

export type WriteOptions = RuleTextOptions & { readonly names: OwnerNames; readonly waitMilliseconds: number };

/** The steps for the iptables rules of one back end; `plan` is `undefined` where nothing of ours is to be left. */
export function iptablesSteps(
  world: World,
  survey: Survey,
  target: { readonly holds: "nft" | "legacy"; readonly variant: Variant; readonly plan: Plan | undefined },
  options: WriteOptions,
): RuleSteps {
  const families: readonly Family[] = [4, 6];
  const parts = families.map((family) => {
    const holding = survey.holdings.find((held) => held.variant === target.holds && held.family === family);
    const plan = target.plan?.families.includes(family) === true ? target.plan : undefined;
    const held = { tables: holding?.tables ?? [], own: holding?.own ?? new Set<never>() };
    const changes = tableChanges(plan, family, held, options);
    return changes.length === 0 ? undefined : { family, changes, holding };
  }).filter((part) => part !== undefined);
  return {
    checks: parts.map(({ family, changes }) => () =>
      restore(world, target.variant, family, changesText(changes), ["--test"], options)
    ),
    steps: parts.map((part) => restoreStep(world, target.variant, part, options)),
    differences: parts.flatMap(({ family, changes }) =>
      changes.flatMap(({ differences }) => differences.map((one) => differenceText(one, family)))
    ),
  };
}

interface Part {
  readonly family: Family;
  readonly changes: readonly TableChange[];
  readonly holding: Holding | undefined;
}

function restoreStep(world: World, variant: Variant, { family, changes, holding }: Part, options: WriteOptions): Step {
  const text = changesText(changes);
  const program = iptablesProgram(variant, family, "restore");
  return {
    what: `${program} --noflush with the following input:\n${text}`,
    run: () => restore(world, variant, family, text, [], options),
    undo: async () => {
      const before = changes.map(({ table }) => tableText(holding?.text ?? "", table)).join("");
      await runProgram(world, program, waitArgs(variant, options), before);
    },
  };
}

async function restore(
  world: World,
  variant: Variant,
  family: Family,
  text: string,
  args: readonly string[],
  options: WriteOptions,
) {
  const program = iptablesProgram(variant, family, "restore");
  await runProgram(world, program, ["--noflush", ...args, ...waitArgs(variant, options)], text);
}

/** iptables-nft has no lock; the legacy programs wait for theirs. */
function waitArgs(variant: Variant, { waitMilliseconds }: WriteOptions): string[] {
  return variant === "legacy" ? [`--wait=${Math.ceil(waitMilliseconds / 1000)}`] : [];
}

/** A table of a save text as a whole; empty where there was none. */
function tableText(text: string, table: string): string {
  const found = new RegExp(`^\\*${table}\\n[^]*?^COMMIT$`, "m").exec(text)?.[0];
  return `${found ?? `*${table}\nCOMMIT`}\n`;
}

function differenceText({ table, chain, what, rule }: Difference, family: Family): string {
  const place = `IPv${family}, table ${table}, chain ${chain}`;
  return what === "order" ? `${place}: the rules are in another order from ${rule} on` : `${place}: ${what}: ${rule}`;
}

/** The steps for our tables in nftables; `plan` is `undefined` where nothing of ours is to be left. */
export async function nftSteps(
  world: World,
  survey: Survey,
  plan: Plan | undefined,
  options: WriteOptions,
): Promise<RuleSteps> {
  const present = NFT_TABLES.filter(({ name }) => survey.nftTables?.has(`inet ${name}`) === true).map(({ name }) =>
    name
  );
  const listing = present.length === 0 || plan === undefined
    ? undefined
    : await runProgram(world, "nft", ["-j", "list", "ruleset", "inet"]);
  const held: NftContent = listing === undefined ? new Map() : heldContent(JSON.parse(listing));
  const wanted: NftContent = plan === undefined ? new Map() : wantedContent(plan, options);
  const differences = plan === undefined
    ? present.map((name) => `unexpected table inet ${name}`)
    : compare(wanted, held);
  if (differences.length === 0) return { checks: [], steps: [], differences };
  const text = replacement(present) + (plan === undefined ? "" : nftText(plan, options));
  const step: Step = {
    what: `nft -f - with the following input:\n${text}`,
    run: async () => void await runProgram(world, "nft", ["-f", "-"], text),
    undo: () => undefined,
  };
  const before = present.length === 0 ? "" : await runProgram(world, "nft", ["list", "ruleset", "inet"]);
  return {
    checks: [async () => void await runProgram(world, "nft", ["-c", "-f", "-"], text)],
    steps: [{ ...step, undo: () => takeBack(world, before) }],
    differences,
  };
}

/** Tables are deleted and made anew in one transaction: their chains may be of other kinds than before. */
function replacement(names: readonly string[]): string {
  return names.map((name) => `add table inet ${name}\ndelete table inet ${name}\n`).join("");
}

async function takeBack(world: World, before: string): Promise<void> {
  const ours = NFT_TABLES.map(({ name }) =>
    new RegExp(`^table inet ${name} \\{\\n[^]*?^\\}$`, "m").exec(before)?.[0] ?? ""
  );
  await runProgram(world, "nft", ["-f", "-"], replacement(NFT_TABLES.map(({ name }) => name)) + ours.join("\n") + "\n");
}

function compare(wanted: NftContent, held: NftContent): string[] {
  return [...new Set([...wanted.keys(), ...held.keys()])].flatMap((table) => {
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
