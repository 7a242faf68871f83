import { errorLine, MeshError, messageOf } from "../base/errors.ts";
import { ApiError } from "../kube/client/mod.ts";
import { decidedFixes } from "./advice/decide.ts";
import { CATEGORIES, type Check, type Finding, type Outcome } from "./check.ts";
import { type Chosen, needsOf } from "./choose.ts";
import { type Inventory, reason } from "./inventory/mod.ts";
import { NotKnown, overFacts } from "./facts.ts";
import { neededText, resultOf } from "./result.ts";
import type { CheckResult } from "./result_schema.ts";

/** Called after each check with the number of finished checks and of all checks. */
export type Ended = (ended: number, all: number) => void;

/** If a check has one of these results, the checks that need it are skipped. */
const BLOCKING: readonly Outcome[] = ["error", "skipped"];

/**
 * Runs checks concurrently, each after the checks that it needs. Skips a check if a needed check failed. Returns the
 * selected checks and the failures of needed checks, in the order of the table. Never throws.
 */
export async function runChecks(
  { checks, shown }: Chosen,
  inventory: Inventory,
  progress: Ended,
): Promise<CheckResult[]> {
  const deciding = { ...inventory, istioNamespace: inventory.scope.istioNamespace };
  const running = new Map<string, Promise<CheckResult>>();
  let ended = 0;
  const run = async (check: Check): Promise<CheckResult> => {
    const needed = await Promise.all(checks.filter(({ id }) => needsOf(check).includes(id)).map(start));
    const blocking = needed.find(({ result }) => BLOCKING.includes(result));
    const finding: Finding = blocking === undefined
      ? await judge(check, inventory)
      : { result: "skipped", message: neededText(blocking.id) };
    const result = resultOf(check, finding, await decidedFixes(finding.fixes ?? [], deciding));
    progress(++ended, checks.length);
    return result;
  };
  const start = (check: Check): Promise<CheckResult> => {
    const started = running.get(check.id) ?? run(check);
    running.set(check.id, started);
    return started;
  };
  const results = await Promise.all(checks.map(start));
  const all = results.filter(({ id, result }) => shown.has(id) || result === "error");
  return CATEGORIES.flatMap((category) => all.filter((result) => result.category === category));
}

/**
 * Runs a check and returns its finding. Never throws.
 *
 * | the check                                                                            | result    |
 * |--------------------------------------------------------------------------------------|-----------|
 * | returns a finding                                                                    | unchanged |
 * | needs a value that the user may not read, or whose object is broken                  | `unknown` |
 * | needs a value, and its request fails: an unreachable cluster must not pass           | `error`   |
 * | throws an error                                                                      | `error`   |
 */
export async function judge({ run }: Pick<Check, "run">, inventory: Inventory): Promise<Finding> {
  try {
    const answer = await overFacts(inventory, run);
    return answer instanceof NotKnown ? findingFor(answer) : answer.value;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) {
      const missingRight = errorLine(error);
      return { result: "unknown", message: `cannot tell: ${missingRight}`, missingRight };
    }
    if (error instanceof MeshError) return { result: "error", message: errorLine(error) };
    return { result: "error", message: `The check has a bug: ${messageOf(error)}; please report this message` };
  }
}

function findingFor({ why, of }: NotKnown): Finding {
  const about = of === "" ? "" : ` for ${of}`;
  return {
    result: "failed" in why ? "error" : "unknown",
    message: `cannot tell${about}: ${reason(why)}`,
    ...("forbidden" in why ? { missingRight: why.forbidden } : {}),
  };
}
