import type { Check, Finding, Outcome } from "./check.ts";
import type { CheckResult } from "./result_schema.ts";

/** The least severe result that fails the run. */
export type FailOn = "warning" | "error";

const WITHOUT_HINT: readonly Outcome[] = ["ok", "skipped"];

/** A check with its result. */
export function resultOf({ id, category, title }: Check, { result, message = "", objects = [] }: Finding): CheckResult {
  const hint = WITHOUT_HINT.includes(result) ? "" : `see docs/checks.md#${id}`;
  return { id, category, title, result, message, hint, objects };
}

/** Whether no check failed. Unknown results do not count as failures. */
export function isSuccess(results: readonly CheckResult[], failOn: FailOn): boolean {
  return !results.some(({ result }) => result === "error" || (failOn === "warning" && result === "warning"));
}
