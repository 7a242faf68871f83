import { type FailOn, isSuccess } from "../result.ts";
import type { CheckResult, CheckResults } from "../result_schema.ts";

/** The results as one JSON object; `success` is true for exit code 0. */
export function jsonText(results: readonly CheckResult[], failOn: FailOn): string {
  const document: CheckResults = { success: isSuccess(results, failOn), checks: results };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
