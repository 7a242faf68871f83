/** Applies a plan to a network namespace, or removes all owned rules. A failure restores the previous rules. */
import { MeshError } from "../../base/errors.ts";
import type { Lock, World } from "../../platform/world.ts";
import type { OwnerNames } from "../kernel/xtables/rule_options.ts";
import type { Plan } from "../plan/rule.ts";
import { deleteEmptyTables, RefusedRule, RulesetChanged } from "../kernel/netfilter/transaction.ts";
import { EPERM } from "../../platform/mod.ts";
import { type BackendChoice, chooseBackend, readersOf, type Via } from "./backend.ts";
import { netlinkSteps } from "./netlink_steps.ts";
import { routingChanges } from "./routing_steps.ts";
import { nftSteps } from "./nft_steps.ts";
import { iptablesSteps, type RuleSteps } from "./rule_steps.ts";
import { takeSteps } from "./steps.ts";
import { holdingsText, holdsOwned, marksOf, type Readers, type Survey, survey } from "./survey.ts";

export interface ApplyOptions {
  readonly native: boolean;
  readonly forced: "" | "legacy" | "nft";
  readonly via: Via;
  readonly comments: boolean;
  readonly names: OwnerNames;
  readonly waitMilliseconds: number;
  log(line: string): void;
  warn(line: string): void;
}

export interface Outcome {
  readonly changed: boolean;
  readonly differences: readonly string[];
  readonly before: Survey;
}

/**
 * The file to lock. The file represents the network namespace, which all containers of a pod share. A lock on this file
 * needs no writable folder.
 */
const LOCK = "/proc/self/ns/net";

/** Returns the plan to apply; `undefined` removes all owned rules. */
export type MakePlan = () => Promise<Plan | undefined>;

/** Applies the plan under a lock. Throws a `MeshError` after restoring the namespace. */
export async function converge(world: World, makePlan: MakePlan, options: ApplyOptions): Promise<Outcome> {
  const lock = await takeLock(world, options);
  try {
    return await convergeAgain(world, makePlan, options);
  } finally {
    lock?.release();
  }
}

/**
 * Retries once if another program changed the rules meanwhile. Uses programs if the kernel refuses a rule over netlink.
 */
async function convergeAgain(world: World, makePlan: MakePlan, options: ApplyOptions): Promise<Outcome> {
  try {
    return await convergeLocked(world, makePlan, options);
  } catch (error) {
    const cause = firstCause(error);
    if (cause instanceof RulesetChanged) return await convergeLocked(world, makePlan, options);
    if (!(cause instanceof RefusedRule) || cause.errno === EPERM || !await hasPrograms(world, options)) throw error;
    options.warn(`${cause.message}: using the iptables or nft programs instead`);
    return await convergeLocked(world, makePlan, { ...options, via: "programs" });
  }
}

/** Returns the first error in a chain of causes. */
function firstCause(error: unknown): unknown {
  return error instanceof MeshError && error.cause !== undefined ? firstCause(error.cause) : error;
}

async function hasPrograms(world: World, { native }: ApplyOptions): Promise<boolean> {
  return native ? world.processes.find("nft") !== undefined : await readersOf(world, "programs")("nft") !== undefined;
}

async function takeLock(world: World, options: ApplyOptions): Promise<Lock | undefined> {
  const lock = await world.files.lock(LOCK, options.waitMilliseconds).catch((error) => {
    options.warn(`${error.message}; parallel runs are not serialized`);
    return null;
  });
  if (lock !== undefined) return lock ?? undefined;
  const seconds = options.waitMilliseconds / 1000;
  throw new MeshError(`Another run still holds the lock of this network namespace after ${seconds} s`, {
    hint: "Set a longer time with --wait",
  });
}

/** The text of each step, the differences between kernel and plan, and the rules found in the kernel. */
export type Pending = Pick<Outcome, "differences" | "before"> & { readonly steps: readonly string[] };

/** Returns the changes that `converge` would make now. Only reads, and takes no lock. */
export async function pending(world: World, plan: Plan | undefined, options: ApplyOptions): Promise<Pending> {
  const { found, steps, differences } = await findChanges(world, () => Promise.resolve(plan), options);
  return { steps: steps.flatMap(({ what }) => what), differences, before: found };
}

async function convergeLocked(world: World, makePlan: MakePlan, options: ApplyOptions): Promise<Outcome> {
  const { found, checks, steps, tables, differences } = await findChanges(world, makePlan, options);
  for (const check of checks) await check();
  steps.forEach(({ what }) => what.forEach((text) => options.log(text)));
  const isNew = (table: string) => found.ruleset?.tables.has(table) !== true;
  try {
    await takeSteps(world, steps);
  } catch (error) {
    deleteEmptyTables(world.system, tables.filter(isNew));
    throw error;
  }
  deleteEmptyTables(world.system, tables);
  return { changed: steps.length > 0, differences, before: found };
}

async function findChanges(world: World, makePlan: MakePlan, options: ApplyOptions) {
  const readers = readersOf(world, options.via);
  const found = await survey(world, options.names, readers);
  const plan = await makePlan();
  const backend = await backendOf(found, readers, plan, options);
  const rules = await ruleChanges({ world, found, plan, backend, readers }, options);
  const { additions, removals } = routingChanges(world.system, plan, marksOf(found));
  const needed = [...additions, ...removals].map(({ what }) => `needed: ${what}`);
  return {
    found,
    checks: rules.flatMap(({ checks }) => checks),
    steps: [...additions, ...rules.flatMap(({ steps }) => steps), ...removals],
    tables: rules.flatMap((part) => part.tables),
    differences: [...rules.flatMap((part) => part.differences), ...needed],
  };
}

interface Situation {
  readonly world: World;
  readonly found: Survey;
  readonly plan: Plan | undefined;
  readonly backend: BackendChoice | undefined;
  readonly readers: Readers;
}

/**
 * Returns the rule changes of all back ends. New rules come before the removal of another back end's rules, so that
 * traffic is always captured.
 */
async function ruleChanges(situation: Situation, options: ApplyOptions): Promise<RuleSteps[]> {
  const { world, found, plan, backend, readers } = situation;
  const isNetlink = options.via === "netlink";
  const parts = (await Promise.all((isNetlink ? ["legacy"] as const : ["nft", "legacy"] as const).map(async (holds) => {
    const isChosen = backend?.holds === holds;
    const isHeld = found.holdings.some((holding) => holding.variant === holds && holdsOwned(holding));
    const variant = isChosen ? backend.variant : isHeld ? await readers(holds) : undefined;
    if (variant === undefined || variant === "netlink") return [];
    return [{
      isChosen,
      ...iptablesSteps(world, found, { holds, variant, plan: isChosen ? plan : undefined }, options),
    }];
  }))).flat();
  const chosen = parts.filter(({ isChosen }) => isChosen);
  const others = parts.filter(({ isChosen }) => !isChosen);
  const native = options.native ? plan : undefined;
  if (isNetlink) {
    const iptables = backend?.holds === "nft" ? plan : undefined;
    return [...chosen, netlinkSteps(world.system, found, { iptables, native }, options), ...others];
  }
  const nft = await nftSteps(world, found, native, options);
  return options.native ? [nft, ...others] : [...chosen, ...others, nft];
}

async function backendOf(found: Survey, readers: Readers, plan: Plan | undefined, options: ApplyOptions) {
  if (options.native || plan === undefined) return undefined;
  const backend = await chooseBackend(found, readers, options.forced);
  const name = backend.variant === "plain" ? "iptables" : `iptables-${backend.holds}`;
  options.log(`back end: ${name}, because ${backend.evidence} (${holdingsText(found)})`);
  return backend;
}
