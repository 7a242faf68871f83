/** Brings a network namespace from whatever it holds of ours to the plan, or to nothing: all or nothing. */
import { MeshError } from "../../core/errors.ts";
import type { Lock, World } from "../../core/world/world.ts";
import type { OwnerNames } from "../kernel/rule_words.ts";
import type { SystemCalls } from "../kernel/system_calls.ts";
import type { Plan } from "../plan/rule.ts";
import { availableVariants, chooseBackend } from "./backend.ts";
import type { Variant } from "./programs.ts";
import { routingSteps } from "./routing_steps.ts";
import { iptablesSteps, nftSteps, type RuleSteps, type WriteOptions } from "./rule_steps.ts";
import { takeSteps } from "./steps.ts";
import { holdsOurs, type Survey, survey } from "./survey.ts";

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

const LOCK = "/run/kubectl-mesh-iptables.lock";

/** Makes the namespace hold the plan and nothing else of ours; `plan` `undefined`: nothing of ours. */
export async function converge(
  world: World,
  system: SystemCalls,
  plan: Plan | undefined,
  options: ApplyOptions,
): Promise<Outcome> {
  const lock = await takeLock(world, options);
  try {
    return await convergeLocked(world, system, plan, options);
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
  throw new MeshError(`Another run holds "${LOCK}" for more than ${options.waitMilliseconds / 1000} s`, {
    hint: "Wait longer with --wait",
  });
}

async function convergeLocked(
  world: World,
  system: SystemCalls,
  plan: Plan | undefined,
  options: ApplyOptions,
): Promise<Outcome> {
  const available = await availableVariants(world);
  const programs = (variant: "nft" | "legacy"): Variant | undefined =>
    available.has(variant) ? variant : available.has("plain") ? "plain" : undefined;
  const found = await survey(world, system, options.names, programs);
  const write: WriteOptions = options;
  const backend = backendOf(found, available, plan, options);
  const parts: RuleSteps[] = [];
  for (const holds of ["nft", "legacy"] as const) {
    const isChosen = backend?.holds === holds;
    const variant = isChosen ? backend.variant : programs(holds);
    const isNeeded = isChosen || found.holdings.some((holding) => holding.variant === holds && holdsOurs(holding));
    if (variant !== undefined && isNeeded) {
      parts.push(iptablesSteps(world, found, { holds, variant, plan: isChosen ? plan : undefined }, write));
    }
  }
  // New rules come before old ones of another back end go: there is no moment without any.
  const nft = await nftSteps(world, found, options.native ? plan : undefined, write);
  const ordered = options.native
    ? [nft, ...parts]
    : [...parts.toSorted((a, b) => b.checks.length - a.checks.length), nft];
  const routing = routingSteps(system, plan ?? { policyRules: [], loopbackAddresses: [] });
  for (const check of ordered.flatMap(({ checks }) => checks)) await check();
  const steps = [...ordered.flatMap((part) => part.steps), ...routing];
  steps.forEach(({ what }) => options.log(what));
  await takeSteps(world, steps);
  const differences = [...ordered.flatMap((part) => part.differences), ...routing.map(({ what }) => `needed: ${what}`)];
  return { changed: steps.length > 0, differences };
}

function backendOf(found: Survey, available: ReadonlySet<Variant>, plan: Plan | undefined, options: ApplyOptions) {
  if (options.native || plan === undefined) return undefined;
  const backend = chooseBackend(found, available, options.forced);
  options.log(
    `back end: iptables${backend.variant === "plain" ? "" : `-${backend.variant}`}, because ${backend.evidence}`,
  );
  return backend;
}
