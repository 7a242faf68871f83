/** What the commands do with settings that are in order. */
import { EXIT, MeshError } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import type { World } from "../core/world/world.ts";
import { type ApplyOptions, converge } from "./apply/apply.ts";
import type { OwnerNames } from "./kernel/rule_words.ts";
import { makePlan, type PlanNetwork } from "./plan/plan.ts";
import type { Plan } from "./plan/rule.ts";
import { removalText } from "./removal.ts";
import type { Mode } from "./settings/help.ts";
import type { OutputFormat, Settings } from "./settings/settings.ts";
import { detectNetwork } from "./surroundings.ts";
import { configBlock } from "./views/log_blocks.ts";
import { viewText } from "./views/mod.ts";
import * as proof from "./verify/mod.ts";

/** A run of a command. */
export interface Job {
  readonly world: World;
  readonly log: Logger;
  readonly names: OwnerNames;
  readonly settings: Settings;
  readonly mode: Mode;
}

async function planOf({ world, log, settings }: Job): Promise<Plan & Pick<PlanNetwork, "dnsServers">> {
  const network = await detectNetwork(world, settings.capture, log);
  log.info("{config}", { config: configBlock(settings, network) });
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
  const plan = isClean ? undefined : await planOf(job);
  const { changed, differences } = await converge(world, world.system, plan, applyOptions(job));
  differences.forEach((difference) => log.info("Repaired: {difference}", { difference }));
  const outcome = isClean ? OUTCOMES.clean : OUTCOMES.apply;
  log.info("{outcome}", { outcome: changed ? outcome.changed : outcome.same });
}

const OUTCOMES = {
  apply: { changed: "The rules are in place", same: "Nothing to change: the rules are in place already" },
  clean: { changed: "Everything of ours has been taken out", same: "Nothing to take out: nothing of ours is here" },
} as const;

function applyOptions({ log, names, settings: { run } }: Job): ApplyOptions {
  return {
    native: run.nativeNftables,
    forced: run.forceBinary,
    comments: run.comments,
    names,
    waitMilliseconds: run.waitMilliseconds,
    log: (line) => log.info("{line}", { line }),
  };
}

/** Proves that the traffic is captured; 126 if a flow escapes or none can be proved. */
export async function verify(job: Job): Promise<number> {
  const { world, log, settings, names, mode } = job;
  const plan = await planOf(job);
  const results = await proof.verifyCapture(world, { settings, ...plan, names });
  const escaped = results.filter(({ outcome }) => outcome === "escaped");
  const isProved = escaped.length === 0 && results.some(({ outcome }) => outcome === "proved");
  if (mode === "verify") world.stdout.write(reportText(job, results, isProved));
  else {results.forEach((result) =>
      log.info("{outcome}: {line}", { outcome: result.outcome, line: proof.resultLine(result) })
    );}
  if (!isProved) throw await failure(job, plan, results);
  log.info("Traffic is captured: {flows}", { flows: provedFlows(results) });
  return EXIT.ok;
}

function reportText({ settings: { run } }: Job, results: readonly proof.FlowResult[], isProved: boolean): string {
  return run.output === "json" ? proof.resultJson(results, isProved) : proof.resultTable(results);
}

function provedFlows(results: readonly proof.FlowResult[]): string {
  return results.filter(({ outcome }) => outcome === "proved").map(({ flow }) => `IPv${flow.family} ${flow.kind}`).join(
    ", ",
  );
}

/** Which flow escaped, and which rules are to blame, as far as this process may see. */
async function failure(job: Job, plan: Plan, results: readonly proof.FlowResult[]): Promise<MeshError> {
  const escaped = results.filter(({ outcome }) => outcome === "escaped");
  const told = (escaped.length === 0 ? results : escaped).map(proof.resultLine).join("; ");
  const head = escaped.length === 0 ? "nothing could be proved" : "traffic escapes";
  const found = escaped.length === 0 ? [] : await proof.differences(job.world, plan, applyOptions(job));
  const rules = [
    ...new Set(escaped.flatMap(({ flow }) => proof.rulesFor(plan, flow, job.settings.run.nativeNftables))),
  ];
  const message = `iptables validation failed; workload is not ready for Istio: ${head}: ${told}`;
  return new MeshError(message, { exitCode: EXIT.notCaptured, hint: blame(found, rules) });
}

/** The differences that were seen; else the rules that have to be there. */
function blame(found: readonly string[] | undefined, rules: readonly string[]): string {
  if (found !== undefined && found.length > 0) return `what differs from the plan: ${found.join("; ")}`;
  if (rules.length === 0) return "run it in the pod's network namespace, with the capabilities NET_ADMIN and NET_RAW";
  const seen = found === undefined
    ? "the rules cannot be read without the capability NET_ADMIN; these have to be there"
    : "all rules are as planned, so that something before them takes the traffic; these lead it";
  return `${seen}: ${rules.join("; ")}; if the CNI plugin makes them, look at its log on the node and delete the pod`;
}
