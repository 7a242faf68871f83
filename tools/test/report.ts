/** The results of a run of tests. */
export interface Tally {
  passed: number;
  failed: number;
  /** Names of skipped tests, each with the reason: `... [skipped: no root]`. */
  skipped: string[];
}

/**
 * Counts the results in the JUnit report of `deno test --junit-path`. A missing or truncated report counts as one
 * failure, because the run crashed.
 */
export function tallyOf(junit: string | undefined): Tally {
  const cases = casesOf(junit);
  if (cases === undefined) return { passed: 0, failed: 1, skipped: [] };
  const of = (wanted: Outcome) => cases.filter(({ outcome }) => outcome === wanted).map(({ name }) => name);
  return { passed: of("passed").length, failed: of("failed").length, skipped: of("skipped") };
}

type Outcome = "passed" | "failed" | "skipped";

/** A test, or a step as `TEST > STEP`. */
export interface TestCase {
  readonly name: string;
  readonly outcome: Outcome;
}

/** Returns the tests and steps in a report; `undefined` if the report is missing or truncated. */
export function casesOf(junit: string | undefined): readonly TestCase[] | undefined {
  if (junit === undefined || !junit.includes("</testsuites>")) return undefined;
  const cases = junit.matchAll(/<testcase\b([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs);
  return [...cases].map(([, attributes = "", body = ""]): TestCase => ({
    name: unescape(/\bname="([^"]*)"/.exec(attributes)?.[1] ?? ""),
    outcome: /<(failure|error)\b/.test(body) ? "failed" : /<skipped\b/.test(body) ? "skipped" : "passed",
  }));
}

const ENDED = /^\S.* \.\.\. (ok|FAILED) \(/gm;

/**
 * Counts the finished tests in the output of a run that was stopped and has no report. Steps are indented, and not
 * counted.
 */
export function tallyOfOutput(output: string): Tally {
  const ends = [...output.replaceAll(COLOR, "").matchAll(ENDED)].map(([, end]) => end);
  const failed = ends.filter((end) => end === "FAILED").length;
  return { passed: ends.length - failed, failed, skipped: [] };
}

/** A test that failed. */
export interface Failure {
  /** The name as `deno test` prints it: `NAME => FILE:LINE:COLUMN`. */
  readonly name: string;
  /** The error and its stack, truncated after the first lines. */
  readonly text: string;
}

// deno-lint-ignore no-control-regex -- colors of a terminal
const COLOR = /\x1b\[[\d;]*m/g;
const LINES_OF_A_FAILURE = 60;
const LAST_LINES = 40;

/**
 * Returns the failures in the output of a failed `deno test`. If the process crashed, or failed outside of its tests,
 * the result is one failure with the last lines of the output.
 */
export function failuresIn(output: string, files: readonly string[]): Failure[] {
  const lines = output.trimEnd().split("\n");
  const plain = lines.map((line) => line.replaceAll(COLOR, ""));
  const errors = plain.indexOf(" ERRORS ");
  const list = plain.lastIndexOf(" FAILURES ");
  if (errors < 0 || list < errors) {
    return [{ name: `the process of ${files.join(" ")}`, text: lines.slice(-LAST_LINES).join("\n") }];
  }
  const names = plain.slice(list + 2, plain.indexOf("", list + 2));
  const starts = names.map((name) => plain.indexOf(name, errors));
  return names.map((name, i) => ({ name, text: head(lines.slice((starts[i] ?? 0) + 1, starts[i + 1] ?? list)) }));
}

function head(lines: readonly string[]): string {
  const rest = lines.length - LINES_OF_A_FAILURE;
  const note = rest > 0 ? `\n... ${rest} more lines` : "";
  return lines.slice(0, LINES_OF_A_FAILURE).join("\n").trimEnd() + note;
}

/**
 * Returns the end of a run's output: the failures, the skipped tests, the files that had no time to run, the names of
 * failed tests, and the counts. `.ci/run` reads all of it.
 */
export function summary(
  { passed, failed, skipped }: Tally,
  failures: readonly Failure[],
  notRun: readonly string[] = [],
): string {
  const errors = failures.map(({ name, text }) => `\n=== Failed: ${name}\n${text}\n`).join("");
  const reasons = skipped.map((name) => `  ${name}\n`).join("");
  const names = failures.map(({ name }) => `FAILED ${name}\n`).join("");
  const late = notRun.length === 0 ? "" : `\n${notRun.length} not run: out of time: ${notRun.join(" ")}\n`;
  const counts = `${passed} passed, ${failed} failed, ${skipped.length} skipped\n`;
  return `${errors}${reasons && `\nSkipped:\n${reasons}`}${late}\n${names}${counts}`;
}

/** Adds up several tallies. */
export function sum(tallies: readonly Tally[]): Tally {
  return {
    passed: tallies.reduce((total, each) => total + each.passed, 0),
    failed: tallies.reduce((total, each) => total + each.failed, 0),
    skipped: tallies.flatMap((each) => each.skipped),
  };
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function unescape(xml: string): string {
  return xml.replace(/&(\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
