/** What the commands do with settings that are in order. */
import { type Logger, logText } from "../core/log.ts";
import type { World } from "../core/world/world.ts";
import { type ApplyOptions, converge } from "./apply/apply.ts";
import type { OwnerNames } from "./kernel/xtables/rule_options.ts";
import { makePlan, type PlanNetwork } from "./plan/plan.ts";
import type { Plan } from "./plan/rule.ts";
import { removalText } from "./removal.ts";
import type { Mode } from "./settings/help.ts";
import type { OutputFormat, Settings } from "./settings/settings.ts";
import { detectNetwork } from "./environment.ts";
import { configBlock } from "./views/log_blocks.ts";
import { viewText } from "./views/mod.ts";

/** A run of a command. */
export interface Job {
  readonly world: World;
  readonly log: Logger;
  readonly names: OwnerNames;
  readonly settings: Settings;
  readonly mode: Mode;
}

type PodPlan = Plan & Pick<PlanNetwork, "dnsServers">;

const PLANS = new WeakMap<Job, Promise<PodPlan>>();

/** The plan of the job: it is made, and told in the log, once. */
export function planOf(job: Job): Promise<PodPlan> {
  const plan = PLANS.get(job) ?? makePodPlan(job);
  PLANS.set(job, plan);
  return plan;
}

async function makePodPlan({ world, log, settings }: Job): Promise<PodPlan> {
  const network = await detectNetwork(world, settings.capture, log);
  log.info(logText(configBlock(settings, network)));
  return { ...makePlan(settings.capture, network), dnsServers: network.dnsServers };
}

/** Prints the plan. */
export async function print(job: Job): Promise<void> {
  const plan = await planOf(job);
  const { run } = job.settings;
  write(job, viewText(plan, formatOf(run), run));
}

/** Prints what `clean` would do here, in the words of the programs that would do it. */
export async function printRemoval(job: Job): Promise<void> {
  write(job, await removalText(job.world, job.log, applyOptions(job)));
}

function write({ world, settings: { run } }: Job, text: string): void {
  world.stdout.write(text);
  if (run.dryRunFile !== "") world.files.writeText(run.dryRunFile, text);
}

/** `-f=false` of Istio 1.5 to 1.23 asks for commands. */
function formatOf({ output, nativeNftables, restoreFormat }: Settings["run"]): OutputFormat {
  if (output !== undefined) return output;
  if (!restoreFormat) return "commands";
  return nativeNftables ? "nft" : "restore";
}

/** Brings the kernel to the plan, or to nothing of ours. */
export async function apply(job: Job, isClean: boolean): Promise<void> {
  const { world, log } = job;
  const makePlan = () => isClean ? Promise.resolve(undefined) : planOf(job);
  const { changed, differences } = await converge(world, world.system, makePlan, applyOptions(job));
  differences.forEach((difference) => log.info(logText(`Repaired: ${difference}`)));
  const outcome = isClean ? OUTCOMES.clean : OUTCOMES.apply;
  log.info(changed ? outcome.changed : outcome.same);
}

const OUTCOMES = {
  apply: { changed: "The rules are in place", same: "Nothing to change: the rules are in place already" },
  clean: { changed: "Everything of ours has been taken out", same: "Nothing to take out: nothing of ours is here" },
} as const;

export function applyOptions({ log, names, settings: { run } }: Job): ApplyOptions {
  return {
    native: run.nativeNftables,
    forced: run.forceBinary,
    comments: run.comments,
    names,
    waitMilliseconds: run.waitMilliseconds,
    log: (line) => log.info(logText(line)),
  };
}
