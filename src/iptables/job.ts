/** Runs print, clean or apply with valid settings. */
import { type Logger, logText } from "../platform/log.ts";
import { tableWidthOf } from "../platform/terminal.ts";
import type { World } from "../platform/world.ts";
import { MeshError } from "../base/errors.ts";
import { type ApplyOptions, converge, pending } from "./apply/apply.ts";
import { changeText } from "./apply/change_text.ts";
import { heldRules, holdsOwned, type Survey } from "./apply/survey.ts";
import type { OwnerNames } from "./kernel/xtables/rule_options.ts";
import { makePlan, type PlanNetwork } from "./plan/plan.ts";
import type { Plan } from "./plan/rule.ts";
import type { Mode, OutputFormat } from "./settings/settings.ts";
import type { Settings } from "./settings/read.ts";
import { capturedDirections, DIRECTIONS } from "./settings/directions.ts";
import { detectNetwork } from "./environment.ts";
import { configBlock } from "./views/log_blocks.ts";
import { commandsText, jsonText, tableText } from "./views/data.ts";
import { nftText } from "./views/nft.ts";
import { restoreText } from "./views/restore.ts";

export interface Job {
  readonly world: World;
  readonly log: Logger;
  /** Logs a block of variables or settings. */
  readonly logBlock: (text: string) => void;
  readonly names: OwnerNames;
  readonly settings: Settings;
  /** Names of the settings that a flag or variable sets. */
  readonly given: ReadonlySet<string>;
  readonly mode: Mode;
}

type PodPlan = Plan & Pick<PlanNetwork, "dnsServers">;

const PLANS = new WeakMap<Job, Promise<PodPlan>>();

/** Returns the plan of the job. The first call builds and logs the plan. */
export function planOf(job: Job): Promise<PodPlan> {
  const plan = PLANS.get(job) ?? makePodPlan(job);
  PLANS.set(job, plan);
  return plan;
}

async function makePodPlan({ world, log, logBlock, settings, mode }: Job): Promise<PodPlan> {
  // The output of "generate" may be for another pod.
  const network = await detectNetwork(world, { capture: settings.capture, assumesIpv4: mode === "generate", log });
  logBlock(configBlock(settings, network));
  return { ...makePlan(settings.capture, network), dnsServers: network.dnsServers };
}

/** Prints the plan in the output format of the settings. */
export async function print(job: Job): Promise<void> {
  const plan = await planOf(job);
  write(job, viewText(plan, job.settings.run, tableWidthOf(job.world)));
}

/** Formats the plan in the output format of the settings. In the format `restore`, `# IPv6` precedes the IPv6 rules. */
function viewText(plan: Plan, run: Settings["run"], width: number): string {
  switch (formatOf(run)) {
    case "restore":
      return plan.families.map((family) => (family === 6 ? "# IPv6\n" : "") + restoreText(plan, family, run)).join("");
    case "nft":
      return nftText(plan, run);
    case "json":
      return jsonText(plan);
    case "commands":
      return commandsText(plan, run);
    case "table":
      return tableText(plan, { ...run, width });
  }
}

/**
 * Prints the input of each program that `clean` would start, below a comment with the command. The input for IPv6 comes
 * after the input for IPv4, below a line `# IPv6`. Policy rules, routes and addresses are comments. Prints nothing if
 * there are no owned rules, or if the rules cannot be read.
 */
export async function printRemoval(job: Job): Promise<void> {
  const { world, log } = job;
  try {
    const { steps } = await pending(world, undefined, applyOptions(job));
    const firstIpv6 = steps.findIndex((what) => what.startsWith("ip6tables"));
    write(job, steps.map((what, at) => (at === firstIpv6 ? "# IPv6\n" : "") + stepText(what)).join(""));
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const { message, hint = "" } = error;
    log.warn(logText(`Cannot read the rules to remove: ${message}; ${hint}`));
    write(job, "");
  }
}

/** Formats a step as its command in a comment, followed by the input. */
export function stepText(what: string): string {
  const [command = "", ...input] = what.trimEnd().replace(/ with the following input:$/m, "").split("\n");
  return [`# ${command}`, ...input].map((line) => `${line}\n`).join("");
}

function write({ world, settings: { run } }: Job, text: string): void {
  world.stdout.write(text);
  if (run.dryRunFile !== "") world.files.writeText(run.dryRunFile, text);
}

/** Returns the output format. In Istio 1.5 to 1.23, `-f=false` selected the output as commands. */
function formatOf({ output, nativeNftables, restoreFormat }: Settings["run"]): OutputFormat {
  if (output !== "") return output;
  if (!restoreFormat) return "commands";
  return nativeNftables ? "nft" : "restore";
}

/** Applies the plan, or removes all owned rules. */
export async function apply(job: Job, isClean: boolean): Promise<void> {
  const { world, log } = job;
  const makePlan = () => isClean ? Promise.resolve(undefined) : planOf(job);
  const { changed, differences, before } = await converge(world, makePlan, applyOptions(job));
  const isFirst = !before.holdings.some(holdsOwned);
  differences.forEach((difference) => log.info(logText(changeText(difference, isFirst))));
  if (!isClean && !isFirst) await logReleased(job, before);
  const outcome = isClean ? OUTCOMES.clean : OUTCOMES.apply;
  log.info(changed ? outcome.changed : outcome.same);
}

/** Warns about directions that the previous rules captured and the new settings do not capture. */
async function logReleased({ log, settings: { capture } }: Job, before: Survey): Promise<void> {
  const captured = capturedDirections(capture);
  if (captured.length === DIRECTIONS.length) return;
  const { heldSettings } = await import("./rules_to_settings.ts");
  const released = capturedDirections(heldSettings(heldRules(before), new Map(), capture))
    .filter((direction) => !captured.includes(direction));
  if (released.length === 0) return;
  log.warn(`Removing the capture of ${released.join(" and ")} connections, because the settings do not request it`);
}

const OUTCOMES = {
  apply: { changed: "The rules are in place", same: "Nothing to change: the rules are in place already" },
  clean: { changed: "All owned rules are removed", same: "Nothing to remove: no owned rules found" },
} as const;

export function applyOptions({ log, names, settings: { run } }: Job): ApplyOptions {
  return {
    native: run.nativeNftables,
    forced: run.forceBinary,
    via: run.via,
    comments: run.comments,
    names,
    waitMilliseconds: run.waitMilliseconds,
    log: (line) => log.info(logText(line)),
    warn: (line) => log.warn(logText(line)),
  };
}
