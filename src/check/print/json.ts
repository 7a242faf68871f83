import { type FailOn, summaryOf } from "../result.ts";
import type { CheckResult, CheckResults } from "../result_schema.ts";

/** The results as one JSON object; `success` is true for exit code 0. */
export function jsonText(results: readonly CheckResult[], failOn: FailOn): string {
  const { isSuccess, counts } = summaryOf(results, failOn);
  const document: CheckResults = { success: isSuccess, unknown: counts.unknown, checks: results };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
