import type { Check, Finding, Outcome } from "./check.ts";
import type { CheckResult } from "./result_schema.ts";

/** From which outcome on the whole run has failed. */
export type FailOn = "warning" | "error";

const WITHOUT_HINT: readonly Outcome[] = ["ok", "skipped"];

/** A check with what it found. */
export function resultOf({ id, category, title }: Check, { result, message = "", objects = [] }: Finding): CheckResult {
  const hint = WITHOUT_HINT.includes(result) ? "" : `see docs/checks.md#${id}`;
  return { id, category, title, result, message, hint, objects };
}

/** Whether nothing failed. What cannot be told has not failed. */
export function isSuccess(results: readonly CheckResult[], failOn: FailOn): boolean {
  return !results.some(({ result }) => result === "error" || (failOn === "warning" && result === "warning"));
}
