import type { ShownFix } from "./advice/advice_schema.ts";
import type { Check, Finding, Outcome } from "./check.ts";
import type { CheckResult } from "./result_schema.ts";

/** The least severe result that fails the run. `unknown` is less severe than `warning`. */
export type FailOn = "error" | "warning" | "unknown";

const FAILING: Readonly<Record<FailOn, readonly Outcome[]>> = {
  error: ["error"],
  warning: ["error", "warning"],
  unknown: ["error", "warning", "unknown"],
};

const WITHOUT_HINT: readonly Outcome[] = ["ok", "skipped"];

/** Returns the message of a check that is skipped because a needed check failed. */
export function neededText(id: string): string {
  return `it needs "${id}"`;
}

export function resultOf(
  { id, category, title }: Check,
  { result, message = "", objects = [], missingRight = "" }: Finding,
  fixes: readonly ShownFix[] = [],
): CheckResult {
  const hint = WITHOUT_HINT.includes(result) ? "" : `see "kubectl mesh check --explain ${id}"`;
  return { id, category, title, result, message, becauseOf: "", fixes, hint, missingRight, objects };
}

export interface Summary {
  /** Whether the exit code is 0. */
  readonly isSuccess: boolean;
  /** The mark of the last line. It is `ok` only if no result is unknown. */
  readonly mark: "ok" | "error" | "unknown";
  readonly counts: Readonly<Record<Outcome, number>>;
}

/**
 * Returns the summary, which also decides the exit code:
 *
 * | a check failed (`--fail-on`) | all results of a category are unknown   | a result is unknown | mark | exit code |
 * |------------------------------|-----------------------------------------|---------------------|------|-----------|
 * | yes                          | any                                     | any                 | `×`  | 1         |
 * | no                           | yes                                     | yes                 | `?`  | 1         |
 * | no                           | no                                      | yes                 | `?`  | 0         |
 * | no                           | no                                      | no                  | `√`  | 0         |
 *
 * A single unknown result is not a failure, because managed clusters hide the flags of their API server.
 */
export function summaryOf(results: readonly CheckResult[], failOn: FailOn): Summary {
  const count = (outcome: Outcome) => results.filter(({ result }) => result === outcome).length;
  const counts = {
    ok: count("ok"),
    warning: count("warning"),
    error: count("error"),
    unknown: count("unknown"),
    skipped: count("skipped"),
  };
  if (hasFailed(results, failOn)) return { isSuccess: false, mark: "error", counts };
  if (counts.unknown > 0) return { isSuccess: !hasBlindCategory(results), mark: "unknown", counts };
  return { isSuccess: true, mark: "ok", counts };
}

export function hasFailed(results: readonly CheckResult[], failOn: FailOn): boolean {
  return results.some(({ result }) => isFailing(result, failOn));
}

export function isFailing(result: Outcome, failOn: FailOn): boolean {
  return FAILING[failOn].includes(result);
}

/** Whether all results of a category are unknown or skipped, with at least one unknown. */
function hasBlindCategory(results: readonly CheckResult[]): boolean {
  const seen = new Set(
    results.filter(({ id, result }) => !BLIND.includes(result) && id !== CLOCK).map(({ category }) => category),
  );
  return results.some(({ result, category }) => result === "unknown" && !seen.has(category));
}

/** Does not show that its category could be checked, because every user may read the API server's time. */
const CLOCK = "clock-skew";

const BLIND: readonly Outcome[] = ["unknown", "skipped"];
