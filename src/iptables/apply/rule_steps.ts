/** Changes the iptables rules of one back end with programs. */
import type { OwnerNames } from "../kernel/xtables/rule_options.ts";
import {
  changesText,
  type HeldTables,
  NOTHING_HELD,
  returnText,
  type TableChange,
  tableChanges,
} from "../kernel/xtables/transaction.ts";
import type { World } from "../../platform/world.ts";
import { FAMILIES, type Family, type Plan, TABLE_FAMILY } from "../plan/rule.ts";
import type { RuleTextOptions } from "../views/restore.ts";
import { iptablesProgram, runProgram, type Variant } from "./programs.ts";
import type { Step } from "./steps.ts";
import { contentOf, type Survey } from "./survey.ts";

export interface RuleSteps {
  /** Functions that test the input of each step without changing rules. They throw if the program refuses its input. */
  readonly checks: readonly (() => Promise<unknown>)[];
  readonly steps: readonly Step[];
  readonly differences: readonly string[];
  /** nf_tables tables that the steps change, such as `ip nat`. */
  readonly tables: readonly string[];
}

export type WriteOptions = RuleTextOptions & { readonly names: OwnerNames; readonly waitMilliseconds: number };

/** A back end, its programs and its plan. If `plan` is `undefined`, the owned rules are deleted. */
export interface Target {
  readonly holds: "nft" | "legacy";
  readonly variant: Variant;
  readonly plan: Plan | undefined;
}

/** The changes of one back end and family. */
export interface FamilyChanges {
  readonly family: Family;
  readonly held: HeldTables;
  readonly changes: readonly TableChange[];
}

/** Returns the changes of each family of a back end that differs from the plan. */
export function familyChanges(
  { holdings }: Survey,
  { holds, plan }: Pick<Target, "holds" | "plan">,
  options: WriteOptions,
): FamilyChanges[] {
  return FAMILIES.map((family) => {
    const held = holdings.find((one) => one.variant === holds && one.family === family) ?? NOTHING_HELD;
    const own = plan?.families.includes(family) === true ? plan : undefined;
    return { family, held, changes: tableChanges(own, family, held, options) };
  }).filter(({ changes }) => changes.length > 0);
}

/** Returns a line for each difference. */
export function familyDifferences(parts: readonly FamilyChanges[]): string[] {
  return parts.flatMap(({ changes }) => changes.flatMap(({ differences }) => differences));
}

interface Part extends FamilyChanges {
  readonly world: World;
  readonly target: Target;
  readonly options: WriteOptions;
}

/** Returns the steps that change the rules of one back end. */
export function iptablesSteps(world: World, survey: Survey, target: Target, options: WriteOptions): RuleSteps {
  const parts = familyChanges(survey, target, options).map((part): Part => ({ ...part, world, target, options }));
  return {
    checks: parts.map((part) => () =>
      runProgram(world, ...restoreCommand(part, "--test"), changesText(part.changes, options))
    ),
    steps: parts.map(restoreStep),
    differences: familyDifferences(parts),
    tables: target.holds === "legacy"
      ? []
      : parts.flatMap(({ family, changes }) => changes.map(({ table }) => `${TABLE_FAMILY[family]} ${table}`)),
  };
}

/** Restores the previous rules. Reads the rules again first, because a failed step may have changed some of them. */
function restoreStep(part: Part): Step {
  const { world, target: { variant }, family, changes, held, options } = part;
  const text = changesText(changes, options);
  const restore = async (input: string) => void await runProgram(world, ...restoreCommand(part), input);
  return {
    what: [`${iptablesProgram(variant, family, "restore")} --noflush with the following input:\n${text}`],
    run: () => restore(text),
    undo: async () => {
      const now = await runProgram(world, iptablesProgram(variant, family, "save"), []);
      const back = returnText(contentOf(now, options.names), held);
      if (back !== "") await restore(back);
    },
  };
}

/** The restore command and its arguments. iptables-legacy waits for the xtables lock; iptables-nft has no lock. */
function restoreCommand({ target, family, options }: Part, ...more: readonly string[]): [string, string[]] {
  const wait = target.holds === "legacy" ? [`--wait=${Math.ceil(options.waitMilliseconds / 1000)}`] : [];
  return [iptablesProgram(target.variant, family, "restore"), ["--noflush", ...more, ...wait]];
}
