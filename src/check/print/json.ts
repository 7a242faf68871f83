import { type CheckResult, type FailOn, isSuccess } from "../result.ts";

/** The results as one JSON object; `success` says what the exit code says. */
export function jsonText(results: readonly CheckResult[], failOn: FailOn): string {
  return `${JSON.stringify({ success: isSuccess(results, failOn), checks: results }, undefined, 2)}\n`;
}
