import { pathToFileURL } from "node:url";
import { LONG } from "../../test/support/long.ts";
import { watchOutput } from "./hangs.ts";
import type { Job } from "./jobs.ts";
import { type Failure, failuresIn, type Tally, tallyOf, tallyOfOutput } from "./report.ts";

/** The output and counts of one process of `deno test`. */
export interface JobResult {
  readonly output: string;
  readonly tally: Tally;
  readonly failures: readonly Failure[];
  readonly seconds: number;
  /** Whether the process was stopped before its last test. */
  readonly isCut: boolean;
}

/** Options for running `deno test`. */
export interface JobOptions {
  readonly root: string;
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The folder for the report. */
  readonly folder: string;
  /** Whether tests run in their long form. */
  readonly isLong: boolean;
  /** Stops the process. Tests that have finished by then still count. */
  readonly signal: AbortSignal;
}

/**
 * V8 collects garbage less often, and compiles functions with TurboFan, its slowest compiler, only after 100,000 calls,
 * because most tests end before that code pays off. Tests of injection take a seventh less processor time; other tests
 * take as long as before.
 */
const V8 = ["--min-semi-space-size=16", "--max-semi-space-size=16", "--invocation-count-for-turbofan=100000"];
const TEST = ["test", "--allow-all", "--no-check", "--quiet", `--v8-flags=${V8.join(",")}`];

/**
 * Minutes without progress after which a test hangs, for tests and for their long form: the longest attack takes 20
 * minutes.
 */
const MINUTES = 8;
const LONG_MINUTES = 32;

let count = 0;

/** Runs the tests of a job. If a test hangs, the output names it and the job ends. */
export async function runJob(
  { files, joined }: Job,
  { root, flags, env, folder, isLong, signal }: JobOptions,
): Promise<JobResult> {
  const start = performance.now();
  const id = ++count;
  const report = `${folder}/report-${id}.xml`;
  const module = `${folder}/job-${id}_test.ts`;
  if (joined) await Deno.writeTextFile(module, importsOf(files, root));
  const child = new Deno.Command(Deno.execPath(), {
    args: [...TEST, `--junit-path=${report}`, ...flags, ...joined ? [module] : files, ...isLong ? ["--", LONG] : []],
    cwd: root,
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    // On Linux, the job has its own process group, so a test that kills its group does not kill the runner. Elsewhere,
    // Ctrl-C must reach the group.
    detached: Deno.build.os === "linux",
  }).spawn();
  let output = "";
  const write = (text: string) => void (output += text);
  const hangs = (name: string) => {
    write(`\nThe test "${name}" hangs: its process is killed\n`);
    child.kill("SIGKILL");
  };
  const forwarded = Promise.all(
    [child.stdout, child.stderr].map((stream) =>
      watchOutput(stream, write, { hangs, minutes: isLong ? LONG_MINUTES : MINUTES })
    ),
  );
  const cut = () => kill(child);
  signal.addEventListener("abort", cut, { once: true });
  const { success } = await child.status;
  signal.removeEventListener("abort", cut);
  // A leftover child of a killed process may keep the output open.
  await Promise.race([forwarded, new Promise((resolve) => setTimeout(resolve, 2000))]);
  const seconds = Math.round((performance.now() - start) / 1000);
  const junit = await Deno.readTextFile(report).catch(() => undefined);
  if (junit === undefined && signal.aborted) return { output, ...resultsOfCut(output, files), seconds, isCut: true };
  const tally = tallyOf(junit);
  // A failure outside of a test, such as a module that does not load, is visible only in the exit code.
  if (!success && tally.failed === 0) tally.failed = 1;
  return { output, tally, failures: tally.failed > 0 ? failuresIn(output, files) : [], seconds, isCut: false };
}

function resultsOfCut(output: string, files: readonly string[]): Pick<JobResult, "tally" | "failures"> {
  const tally = tallyOfOutput(output);
  return { tally, failures: tally.failed > 0 ? failuresIn(output, files) : [] };
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // The process has just exited.
  }
}

function importsOf(files: readonly string[], root: string): string {
  return files.map((file) => `import ${JSON.stringify(pathToFileURL(`${root}/${file}`).href)};\n`).join("");
}
