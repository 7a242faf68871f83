/** Prints the results as JUnit XML for CI pipelines: a test suite for each category, a test case for each check. */
import { type FailOn, isFailing } from "../result.ts";
import type { CheckResult } from "../result_schema.ts";

/** A result that fails according to `--fail-on` is a failure. Other warnings become output of their test case. */
export function junitText(results: readonly CheckResult[], failOn: FailOn): string {
  const suites = [...Map.groupBy(results, ({ category }) => category)];
  const text = suites.map(([category, own]) => suiteText(category, own, failOn)).join("");
  const head = `<testsuites name="kubectl mesh check"${countsOf(results, failOn)}>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${head}\n${text}</testsuites>\n`;
}

function suiteText(category: string, results: readonly CheckResult[], failOn: FailOn): string {
  const cases = results.map((result) => caseText(result, failOn)).join("");
  return `  <testsuite name="${escaped(category)}"${countsOf(results, failOn)}>\n${cases}  </testsuite>\n`;
}

function countsOf(results: readonly CheckResult[], failOn: FailOn): string {
  const failures = results.filter(({ result }) => isFailing(result, failOn)).length;
  const skipped = results.filter((each) => isSkipped(each, failOn)).length;
  return ` tests="${results.length}" failures="${failures}" errors="0" skipped="${skipped}"`;
}

/** Whether the test case counts as skipped. An unknown result is not a success, because the check could not run. */
function isSkipped({ result }: CheckResult, failOn: FailOn): boolean {
  return !isFailing(result, failOn) && (result === "skipped" || result === "unknown");
}

function caseText(checked: CheckResult, failOn: FailOn): string {
  const { id, category, title, result, message } = checked;
  const head = `    <testcase classname="${escaped(category)}" name="${escaped(id)}: ${escaped(title)}"`;
  const advice = checked.fixes.flatMap(({ alternatives: [first] }) => first ?? []);
  const fixes = advice.flatMap(({ change, commands }) => [`fix: ${change}`, ...commands.map((each) => `  ${each}`)]);
  const text = escaped([message, ...fixes].join("\n"));
  const withBody = (body: string) => `${head}>\n      ${body}\n    </testcase>\n`;
  if (isFailing(result, failOn)) {
    return withBody(`<failure type="${result}" message="${escaped(message)}">${text}</failure>`);
  }
  if (isSkipped(checked, failOn)) return withBody(`<skipped message="${escaped(`${result}: ${message}`)}"/>`);
  return message === "" ? `${head}/>\n` : withBody(`<system-out>${result}: ${text}</system-out>`);
}

/** Escapes text for XML 1.0, which allows no control characters except tab and line breaks. */
function escaped(text: string): string {
  // deno-lint-ignore no-control-regex -- XML cannot have these characters
  return text.toWellFormed().replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
