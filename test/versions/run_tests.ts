/** Runs test files as a process of `deno test`, and counts the results of tests and steps. */
import { casesOf, type TestCase } from "../../tools/test/report.ts";
import { LONG } from "../support/long.ts";
import { CHECKOUT } from "../support/programs/cache.ts";

/** Options of a run. */
export interface TestRun {
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the tests run in their long form. */
  readonly isLong?: boolean;
  /** The filter of `deno test` for names of tests. */
  readonly filter?: string;
}

/** The outcome of tests. Tests with steps are not counted, only their steps. */
export interface Counts {
  readonly passed: number;
  /** Names of failed tests and steps. */
  readonly failed: readonly string[];
}

/** Runs the tests. If one fails, prints their output. Throws if one is skipped, or if the process dies. */
export async function runTests(
  files: readonly string[],
  { env = {}, isLong = false, filter = "" }: TestRun,
): Promise<readonly TestCase[]> {
  const folder = await Deno.makeTempDir({ prefix: "mv-" });
  try {
    await Deno.chmod(folder, 0o755);
    const report = `${folder}/report.xml`;
    const args = [
      "test",
      "--allow-all",
      "--no-check",
      "--quiet",
      `--junit-path=${report}`,
      `--filter=${filter}`,
      ...files,
    ];
    const long = isLong ? ["--", LONG] : [];
    const run = new Deno.Command(Deno.execPath(), { args: [...args, ...long], env, cwd: CHECKOUT, stdin: "null" });
    const { success, stdout, stderr } = await run.output();
    // deno-lint-ignore no-console
    if (!success) console.log(new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
    const cases = casesOf(await Deno.readTextFile(report).catch(() => undefined));
    if (cases === undefined) throw new Error(`The process of ${files.join(" ")} died`);
    // The report also has tests that the filter leaves out, without a reason.
    const skipped = cases.filter(({ name }) => name.includes("[skipped: "));
    if (skipped.length > 0) throw new Error(skipped.map(({ name }) => name).join(", "));
    return cases;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Counts the tests and steps whose names match. A test with steps counts only if it fails while its steps pass: then it
 * leaks a resource.
 */
export function counted(cases: readonly TestCase[], which = /./): Counts {
  const own = cases.filter(({ name }) => which.test(name));
  const stepsOf = (test: string) => own.filter(({ name }) => name.startsWith(`${test} > `));
  const isFailed = ({ outcome }: TestCase) => outcome === "failed";
  return {
    passed: own.filter(({ name, outcome }) => outcome === "passed" && stepsOf(name).length === 0).length,
    failed: own.filter((each) => isFailed(each) && !stepsOf(each.name).some(isFailed)).map(({ name }) => name),
  };
}
