/** Checks whether a cluster is ready for the mesh, and its workloads are in the mesh. */
import { EXIT, MeshError } from "../base/errors.ts";
import { connect, type KubeObject } from "../kube/client/mod.ts";
import type { World } from "../platform/mod.ts";
import { applied, type Applying, repairsIn } from "./apply.ts";
import { causesFirst } from "./causes.ts";
import { ALL_CHECKS } from "./checks/all.ts";
import { type Choice, chooseChecks, type Chosen } from "./choose.ts";
import { labelsOfObject } from "./inventory/injector_webhooks.ts";
import {
  hasNamespace,
  inventoryOf,
  isChosen,
  isKnown,
  noNamespace,
  type Observed,
  type Scope,
  type Source,
} from "./inventory/mod.ts";
import { junitText } from "./print/junit.ts";
import { jsonText, yamlText } from "./print/json.ts";
import { type Progress, withProgress } from "../platform/progress.ts";
import { isDumb, isPlain, rowsOf } from "../platform/terminal.ts";
import { tableText, widthOf } from "./print/table.ts";
import { type FailOn, hasFailed, summaryOf } from "./result.ts";
import type { CheckResult } from "./result_schema.ts";
import { runChecks } from "./run.ts";
import { watchUntilWell } from "./watch.ts";

export type { Choice } from "./choose.ts";
export { checkNames, explanationOf, listText } from "./explain_check.ts";
export { webhookJudge } from "./webhook_judge.ts";
export { snapshotInjection } from "./snapshot/snapshot.ts";
export { snapshotCluster } from "./snapshot/snapshot_api.ts";
export { type Difference, differenceOf, type PodPair, type Side } from "./difference/difference.ts";
export { type NamespaceDifference, namespaceDifference } from "./difference/namespaces.ts";
export { fileSide, revisionSide } from "./difference/sides.ts";
export type { Explanation } from "./injection/explanation.ts";
export { explainInjection, type InjectionQuestion } from "./injection/explain_injection.ts";
export * from "./injection/print.ts";
export { readWorkloadName } from "../kube/client/mod.ts";
export type { FailOn } from "./result.ts";
export { type LabelChoice, labelChoice, type Scope } from "./inventory/mod.ts";
export { widthOf } from "./print/table.ts";
export { upgradeJson, upgradeText } from "./upgrade/print.ts";
export { upgradeOf, type UpgradeQuestion } from "./upgrade/upgrade.ts";
export { rbacText } from "./rights.ts";

/** Output formats of `check`. */
export const FORMATS = ["table", "wide", "short", "json", "yaml", "junit"] as const;

export interface CheckOptions {
  readonly connection: Parameters<typeof connect>[1];
  readonly choice: Choice;
  readonly scope: Scope;
  readonly output: typeof FORMATS[number];
  readonly failOn: FailOn;
  /** Milliseconds to wait for failed checks to pass. */
  readonly wait: number;
  /** Runs repairs after the user agrees, then checks again. */
  readonly fix?: Applying | undefined;
  /** Repeats the checks until they pass, for at most this many milliseconds; 0 means no limit. */
  readonly watch?: number | undefined;
}

/** Prints the results and returns the exit code. Throws a MeshError if there is no cluster or no such namespace. */
export async function checkCluster(world: World, options: CheckOptions): Promise<number> {
  const { scope, failOn } = options;
  const chosen = chooseChecks(ALL_CHECKS, options.choice);
  const api = await connect(world, options.connection);
  world.permissions.keepOnly([...api.permissions, ...options.fix === undefined ? [] : ["run"] as const]);
  try {
    const source: Source = { api, clock: world.clock, scope, serverFlag: options.connection?.server };
    const ask = async () => {
      const [results, problem] = await withProgress(world, { one: "check", verb: "made" }, (progress) => {
        return Promise.all([runUntilWell(source, chosen, options, progress), scopeProblem(source)]);
      });
      if (problem !== undefined) throw problem;
      return causesFirst(results);
    };
    const isWell = (results: readonly CheckResult[]) => summaryOf(results, failOn).isSuccess;
    const text = (results: readonly CheckResult[]) => textOf(results, options, world);
    const isDocument = !["table", "wide", "short"].includes(options.output);
    if (options.watch !== undefined) {
      const watching = { results: ask, isWell, text, timeout: options.watch, isDocument };
      return await watchUntilWell(world, watching) ? EXIT.ok : EXIT.failed;
    }
    const first = await ask();
    const results = await printAndRepair(world, first, { fix: options.fix, ask, text, isDocument });
    return isWell(results) ? EXIT.ok : EXIT.failed;
  } finally {
    api.close();
  }
}

interface Repairing {
  readonly fix: Applying | undefined;
  readonly ask: () => Promise<readonly CheckResult[]>;
  readonly text: (results: readonly CheckResult[]) => string;
  /** Whether the output is one document, which contains only the last results. */
  readonly isDocument: boolean;
}

/** Prints the results and runs the repairs that the user wants. After a repair, prints and returns the new results. */
async function printAndRepair(
  world: World,
  first: readonly CheckResult[],
  { fix, ask, text, isDocument }: Repairing,
): Promise<readonly CheckResult[]> {
  const repairs = fix === undefined ? [] : repairsIn(first);
  const isLater = isDocument && repairs.length > 0;
  if (!isLater) world.stdout.write(text(first));
  const isRepaired = fix !== undefined && repairs.length > 0 && await applied(world, repairs, fix) > 0;
  const results = isRepaired ? await ask() : first;
  if (isLater) world.stdout.write(text(results));
  else if (isRepaired) world.stdout.write(`\n${text(results)}`);
  return results;
}

/** Returns the error for an empty scope, in which every check would pass. */
async function scopeProblem(source: Source): Promise<MeshError | undefined> {
  const { namespace, selector } = source.scope;
  const [isThere, isAnyChosen] = await Promise.all([hasNamespace(source.api, namespace), hasChosen(source)]);
  if (!isThere) return noNamespace(namespace);
  if (isAnyChosen) return undefined;
  return new MeshError(`No pod, workload or namespace has the labels "${selector?.text}"`, { hint: "see --selector" });
}

/** Whether the selector selects any object. True if this is unknown, because the checks then report the cause. */
export async function hasChosen(source: Source): Promise<boolean> {
  const { selector } = source.scope;
  if (selector === undefined) return true;
  const { pods, workloads, namespaces } = inventoryOf(source);
  const all: readonly Observed<readonly KubeObject[]>[] = await Promise.all([pods(), workloads(), namespaces()]);
  return all.some((found) => !isKnown(found) || found.value.some((each) => isChosen(labelsOfObject(each), selector)));
}

const PAUSE = 2_000;
const WAITED_FOR = ["error", "warning", "unknown"] as const;

/** Repeats all checks until they pass or time runs out. Each round reads the cluster again. */
export async function runUntilWell(
  source: Source,
  chosen: Chosen,
  { wait, failOn }: Pick<CheckOptions, "wait" | "failOn">,
  progress: Pick<Progress, "at" | "now">,
): Promise<readonly CheckResult[]> {
  const end = source.clock.monotonic() + wait;
  for (;;) {
    const results = await runChecks(chosen, inventoryOf(source), progress.at);
    const left = end - source.clock.monotonic();
    if (!hasFailed(results, failOn) || left <= 0) return results;
    const waitedFor = WAITED_FOR.map((each) => results.find(({ result }) => result === each)).find(Boolean);
    progress.now(`waiting for "${waitedFor?.title}"`);
    await source.clock.sleep(Math.min(PAUSE, left));
  }
}

function textOf(results: readonly CheckResult[], { output, failOn }: CheckOptions, world: World): string {
  if (output === "json") return jsonText(results, failOn);
  if (output === "yaml") return yamlText(results, failOn);
  if (output === "junit") return junitText(results, failOn);
  const width = output === "wide" ? undefined : widthOf(world);
  const terminal = { color: !isPlain(world), ascii: isDumb(world), rows: rowsOf(world), width };
  return tableText(results, { ...terminal, failOn, short: output === "short" });
}
