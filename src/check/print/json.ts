import type { Value } from "../../base/value.ts";
import { toYaml } from "../../yaml/mod.ts";
import { type FailOn, summaryOf } from "../result.ts";
import type { CheckResult, CheckResults } from "../result_schema.ts";

/** Returns the results as one JSON object. `success` is true for exit code 0. */
export function jsonText(results: readonly CheckResult[], failOn: FailOn): string {
  return `${JSON.stringify(documentOf(results, failOn), undefined, 2)}\n`;
}

export function yamlText(results: readonly CheckResult[], failOn: FailOn): string {
  return yamlOf(JSON.stringify(documentOf(results, failOn)));
}

export function yamlOf(json: string): string {
  const value: Value = JSON.parse(json);
  return toYaml(value);
}

function documentOf(results: readonly CheckResult[], failOn: FailOn): CheckResults {
  const { isSuccess, counts } = summaryOf(results, failOn);
  return { success: isSuccess, unknown: counts.unknown, checks: results };
}
