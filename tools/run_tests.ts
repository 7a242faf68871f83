/**
 * Runs the tests: `tools/deno task test [unit|golden|e2e ...] [-- FLAGS of deno test]`, all suites unless some are named.
 * Closes with what was skipped and why and with `N passed, N failed, N skipped`; exit code 1 if any failed or none ran.
 */
import { forward } from "./test/forward.ts";
import { sum, summary, type Tally, tallyOf } from "./test/report.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");

/** The suites and their folders, as seen from the checkout. */
const SUITES: Readonly<Record<string, readonly string[]>> = {
  unit: ["src", "test/house", "test/support", "tools"],
  golden: ["test/golden"],
  e2e: ["test/e2e", "test/oracle"],
};

async function main(args: readonly string[]): Promise<number> {
  const end = args.indexOf("--");
  const named = end < 0 ? args : args.slice(0, end);
  const flags = end < 0 ? [] : args.slice(end + 1);
  const unknown = named.find((each) => !Object.hasOwn(SUITES, each));
  if (unknown !== undefined) throw new Error(`No suite "${unknown}": there are ${Object.keys(SUITES).join(", ")}`);
  const tallies: Tally[] = [];
  for (const suite of named.length > 0 ? named : Object.keys(SUITES)) tallies.push(await runSuite(suite, flags));
  const total = sum(tallies);
  print(summary(total));
  return total.failed > 0 || total.passed === 0 ? 1 : 0;
}

/** In CI a lock file that is out of date is an error. */
const FROZEN = Deno.env.get("CI") === undefined ? [] : ["--frozen"];

async function runSuite(suite: string, flags: readonly string[]): Promise<Tally> {
  const folders = (SUITES[suite] ?? []).filter((folder) => hasTests(`${ROOT}/${folder}`));
  if (folders.length === 0) return { passed: 0, failed: 0, skipped: [] };
  print(`\n=== ${suite}: ${folders.join(", ")}\n`);
  const report = await Deno.makeTempFile({ prefix: `${suite}-`, suffix: ".xml" });
  try {
    const success = await runDeno([...FROZEN, `--junit-path=${report}`, ...flags, ...folders]);
    const tally = tallyOf(await Deno.readTextFile(report));
    // A failure outside of a test (a module that does not load) is in the exit code alone.
    return success || tally.failed > 0 ? tally : { ...tally, failed: 1 };
  } finally {
    await Deno.remove(report);
  }
}

/** A terminal sees the same as if it were asked itself. */
const COLORS = Deno.stdout.isTerminal() && Deno.env.get("NO_COLOR") === undefined ? { FORCE_COLOR: "1" } : {};

async function runDeno(args: readonly string[]): Promise<boolean> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "--allow-all", "--no-check", "--quiet", ...args],
    cwd: ROOT,
    env: COLORS,
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const forwarded = forward(child.stdout, (bytes) => void Deno.stdout.writeSync(bytes), (name) => {
    print(`\nThe test "${name}" does not end: this run is ended instead\n`);
    child.kill("SIGKILL");
  });
  const { success } = await child.status;
  // A program that a killed run has left behind may hold its output open.
  await Promise.race([forwarded, new Promise((resolve) => setTimeout(resolve, 2000))]);
  return success;
}

function hasTests(folder: string): boolean {
  try {
    return [...Deno.readDirSync(folder)].some((entry) =>
      entry.isDirectory ? hasTests(`${folder}/${entry.name}`) : entry.name.endsWith("_test.ts")
    );
  } catch {
    return false;
  }
}

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

Deno.exit(await main(Deno.args));
