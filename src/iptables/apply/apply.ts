/** Brings a network namespace from whatever it holds of ours to the plan, or to nothing: all or nothing. */
import { MeshError } from "../../core/errors.ts";
import type { Lock, World } from "../../core/world/world.ts";
import type { OwnerNames } from "../kernel/xtables/rule_options.ts";
import type { SystemCalls } from "../../core/world/mod.ts";
import type { Plan } from "../plan/rule.ts";
import { deleteEmptyTables } from "../kernel/nftables/tables.ts";
import { type BackendChoice, chooseBackend, readersOf } from "./backend.ts";
import { heldRouting, routingChanges, type WantedRouting } from "./routing_steps.ts";
import { nftSteps } from "./nft_steps.ts";
import { type Check, iptablesSteps, type RuleSteps } from "./rule_steps.ts";
import { takeSteps } from "./steps.ts";
import { holdsOurs, marksOf, type Readers, type Survey, survey } from "./survey.ts";

/** How to write. */
export interface ApplyOptions {
  readonly native: boolean;
  readonly forced: "" | "legacy" | "nft";
  readonly comments: boolean;
  readonly names: OwnerNames;
  readonly waitMilliseconds: number;
  log(line: string): void;
}

/** What came of it. */
export interface Outcome {
  readonly changed: boolean;
  /** What differed from the plan; empty on a second run. */
  readonly differences: readonly string[];
}

/**
 * The lock is the network namespace itself: all containers of a pod share it, whatever their file systems are, and it
 * needs no folder that can be written.
 */
const LOCK = "/proc/self/ns/net";

/** The plan, or `undefined` where nothing of ours is to be left; it is made while programs read what is held. */
export type MakePlan = () => Promise<Plan | undefined>;

/** Makes the namespace hold the plan and nothing else of ours. */
export async function converge(
  world: World,
  system: SystemCalls,
  makePlan: MakePlan,
  options: ApplyOptions,
): Promise<Outcome> {
  const lock = await takeLock(world, options);
  try {
    return await convergeLocked(world, system, makePlan, options);
  } finally {
    lock?.release();
  }
}

async function takeLock(world: World, options: ApplyOptions): Promise<Lock | undefined> {
  const lock = await world.files.lock(LOCK, options.waitMilliseconds).catch((error) => {
    options.log(`warning: ${error.message}; runs at the same time are not kept apart`);
    return null;
  });
  if (lock !== undefined) return lock ?? undefined;
  throw new MeshError(
    `Another run has been changing the rules of this network namespace for more than ${
      options.waitMilliseconds / 1000
    } s`,
    { hint: "Wait longer with --wait" },
  );
}

/** What would be done, and why: the steps in words, and what differs from the plan. */
export type Pending = Pick<Outcome, "differences"> & { readonly steps: readonly string[] };

/** What `converge` would do now. Nothing is changed, nor is there a wait for the lock. */
export async function pending(
  world: World,
  system: SystemCalls,
  plan: Plan | undefined,
  options: ApplyOptions,
): Promise<Pending> {
  const { steps, differences } = await findChanges(world, system, () => Promise.resolve(plan), options);
  return { steps: steps.map(({ what }) => what), differences };
}

async function convergeLocked(
  world: World,
  system: SystemCalls,
  makePlan: MakePlan,
  options: ApplyOptions,
): Promise<Outcome> {
  const { found, checks, steps, tables, differences } = await findChanges(world, system, makePlan, options);
  await allOf(checks);
  steps.forEach(({ what }) => options.log(what));
  const isNew = (table: string) => found.nftTables?.has(table) !== true;
  try {
    await takeSteps(world, steps);
  } catch (error) {
    deleteEmptyTables(system, tables.filter(isNew));
    throw error;
  }
  deleteEmptyTables(system, tables);
  return { changed: steps.length > 0, differences };
}

/** The texts of both families are proved at the same time; all have ended when one has failed. */
async function allOf(checks: readonly Check[]): Promise<void> {
  const verdicts = checks.map((begin) => begin());
  for (const result of await Promise.allSettled(verdicts.map((verdict) => verdict()))) {
    if (result.status === "rejected") throw result.reason;
  }
}

async function findChanges(world: World, system: SystemCalls, makePlan: MakePlan, options: ApplyOptions) {
  const readers = readersOf(world);
  const [found, { plan, routing }] = await survey(world, system, { names: options.names, readers }, async () => {
    const routing = heldRouting(system);
    return { routing, plan: await makePlan() };
  });
  const backend = await backendOf(found, readers, plan, options);
  const rules = await ruleChanges({ world, found, plan, backend, readers }, options);
  const { additions, removals } = routingChanges(system, routing, plan ?? NO_ROUTING, marksOf(found));
  const needed = [...additions, ...removals].map(({ what }) => `needed: ${what}`);
  return {
    found,
    checks: rules.flatMap(({ checks }) => checks),
    steps: [...additions, ...rules.flatMap(({ steps }) => steps), ...removals],
    tables: rules.flatMap((part) => part.tables),
    differences: [...rules.flatMap((part) => part.differences), ...needed],
  };
}

const NO_ROUTING: WantedRouting = { policyRules: [], loopbackAddresses: [] };

interface Situation {
  readonly world: World;
  readonly found: Survey;
  readonly plan: Plan | undefined;
  readonly backend: BackendChoice | undefined;
  readonly readers: Readers;
}

/** New rules come before old ones of another back end go: there is no moment without any. */
async function ruleChanges(situation: Situation, options: ApplyOptions): Promise<RuleSteps[]> {
  const { world, found, plan, backend, readers } = situation;
  const parts = (await Promise.all((["nft", "legacy"] as const).map(async (holds) => {
    const isChosen = backend?.holds === holds;
    const isHeld = found.holdings.some((holding) => holding.variant === holds && holdsOurs(holding));
    const variant = isChosen ? backend.variant : isHeld ? await readers(holds) : undefined;
    if (variant === undefined) return [];
    return [{
      isChosen,
      ...iptablesSteps(world, found, { holds, variant, plan: isChosen ? plan : undefined }, options),
    }];
  }))).flat();
  const nft = await nftSteps(world, found, options.native ? plan : undefined, options);
  const chosen = parts.filter(({ isChosen }) => isChosen);
  const others = parts.filter(({ isChosen }) => !isChosen);
  return options.native ? [nft, ...others] : [...chosen, ...others, nft];
}

async function backendOf(found: Survey, readers: Readers, plan: Plan | undefined, options: ApplyOptions) {
  if (options.native || plan === undefined) return undefined;
  const backend = await chooseBackend(found, readers, options.forced);
  options.log(
    `back end: iptables${backend.variant === "plain" ? "" : `-${backend.variant}`}, because ${backend.evidence}`,
  );
  return backend;
}
