/** The results of a run of tests. */
export interface Tally {
  passed: number;
  failed: number;
  /** Names of skipped tests; each name holds the reason (`... [skipped: no root]`). */
  skipped: string[];
}

/**
 * Reads the JUnit report that `deno test --junit-path` writes. A report that is absent or cut off counts as one failure: the
 * run died.
 */
export function tallyOf(junit: string | undefined): Tally {
  const tally: Tally = { passed: 0, failed: 0, skipped: [] };
  if (junit === undefined || !junit.includes("</testsuites>")) return { ...tally, failed: 1 };
  for (const [, attributes = "", , body = ""] of junit.matchAll(/<testcase\b([^>]*?)(\/>|>(.*?)<\/testcase>)/gs)) {
    if (/<(failure|error)\b/.test(body)) tally.failed++;
    else if (/<skipped\b/.test(body)) tally.skipped.push(unescape(/\bname="([^"]*)"/.exec(attributes)?.[1] ?? ""));
    else tally.passed++;
  }
  return tally;
}

// deno-lint-ignore no-control-regex -- colors of a terminal
const ERRORS = /^(?:\x1b\[[\d;]*m)* ERRORS (?:\x1b\[[\d;]*m)*$/m;
// deno-lint-ignore no-control-regex -- colors of a terminal
const FAILURES = /^(?:\x1b\[[\d;]*m)* FAILURES (?:\x1b\[[\d;]*m)*$/m;
const LAST_LINES = 40;

/** The errors in the output of a `deno test` that failed; the last lines of one that died. */
export function errorsIn(output: string): string {
  const errors = output.split(ERRORS)[1]?.split(FAILURES)[0];
  return (errors ?? output.trimEnd().split("\n").slice(-LAST_LINES).join("\n")).trim();
}

/** The list of skipped tests, and the line that closes a run. */
export function summary({ passed, failed, skipped }: Tally): string {
  const lines = skipped.map((name) => `  ${name}\n`).join("");
  return `${lines && `\nSkipped:\n${lines}`}\n${passed} passed, ${failed} failed, ${skipped.length} skipped\n`;
}

/** One tally of several. */
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
