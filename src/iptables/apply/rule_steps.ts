/** Changes the iptables rules of one back end with programs. */
import type { OwnerNames } from "../kernel/xtables/rule_options.ts";
import {
  changesText,
  differenceText,
  type HeldTables,
  NOTHING_HELD,
  returnText,
  type TableChange,
  tableChanges,
} from "../kernel/xtables/transaction.ts";
import type { World } from "../../platform/world.ts";
import { FAMILIES, type Family, type Plan } from "../plan/rule.ts";
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

interface Part {
  readonly world: World;
  readonly target: Target;
  readonly options: WriteOptions;
  readonly family: Family;
  readonly changes: readonly TableChange[];
  readonly held: HeldTables;
}

/** Returns the steps that change the rules of one back end. */
export function iptablesSteps(world: World, survey: Survey, target: Target, options: WriteOptions): RuleSteps {
  const parts = FAMILIES.map((family): Part => {
    const held = survey.holdings.find((one) => one.variant === target.holds && one.family === family) ?? NOTHING_HELD;
    const plan = target.plan?.families.includes(family) === true ? target.plan : undefined;
    return { world, target, options, family, held, changes: tableChanges(plan, family, held, options) };
  }).filter(({ changes }) => changes.length > 0);
  return {
    checks: parts.map((part) => () =>
      runProgram(world, ...restoreCommand(part, "--test"), changesText(part.changes, options))
    ),
    steps: parts.map(restoreStep),
    differences: parts.flatMap(({ family, changes }) =>
      changes.flatMap(({ differences }) => differences.map((one) => differenceText(one, family)))
    ),
    tables: target.holds === "legacy"
      ? []
      : parts.flatMap(({ family, changes }) => changes.map(({ table }) => `${family === 4 ? "ip" : "ip6"} ${table}`)),
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
