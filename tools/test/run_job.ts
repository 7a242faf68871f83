import { pathToFileURL } from "node:url";
import { LONG } from "../../test/support/long.ts";
import { watchOutput } from "./hangs.ts";
import type { Job } from "./jobs.ts";
import { type Failure, failuresIn, type Tally, tallyOf, tallyOfOutput } from "./report.ts";

/** Output and counts of a process of `deno test`. */
export interface JobResult {
  readonly output: string;
  readonly tally: Tally;
  readonly failures: readonly Failure[];
  readonly seconds: number;
  /** It was ended before its last test. */
  readonly isCut: boolean;
}

/** How to run `deno test`. */
export interface JobOptions {
  readonly root: string;
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** A folder for the report. */
  readonly folder: string;
  /** Tests run in their long form. */
  readonly isLong: boolean;
  /** Ends the process: the tests that have ended until then count. */
  readonly signal: AbortSignal;
}

/**
 * V8 collects garbage less often, and gives functions to TurboFan, its slowest compiler, after 100,000 calls: most tests end before its
 * code pays. A seventh less processor time for tests of injection; others take the same.
 */
const V8 = ["--min-semi-space-size=16", "--max-semi-space-size=16", "--invocation-count-for-turbofan=100000"];
const TEST = ["test", "--allow-all", "--no-check", "--quiet", `--v8-flags=${V8.join(",")}`];

/** Minutes after which a test without progress hangs, and one in its long form: the longest attack takes 20. */
const MINUTES = 8;
const LONG_MINUTES = 32;

let count = 0;

/** Runs the tests of a job to their end. A test that hangs is named in the output, and ends the job. */
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
    // A test that kills its own process group does not kill the runner. Elsewhere Ctrl-C must reach the group.
    detached: Deno.build.os === "linux",
  }).spawn();
  let output = "";
  const write = (text: string) => void (output += text);
  const hangs = (name: string) => {
    write(`\nThe test "${name}" does not end: its process is ended\n`);
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
  // A leftover child of a killed process may hold the output open.
  await Promise.race([forwarded, new Promise((resolve) => setTimeout(resolve, 2000))]);
  const seconds = Math.round((performance.now() - start) / 1000);
  const junit = await Deno.readTextFile(report).catch(() => undefined);
  if (junit === undefined && signal.aborted) return { output, ...resultsOfCut(output, files), seconds, isCut: true };
  const tally = tallyOf(junit);
  // A failure outside of a test (a module that does not load) shows in the exit code only.
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
    // It has just ended.
  }
}

function importsOf(files: readonly string[], root: string): string {
  return files.map((file) => `import ${JSON.stringify(pathToFileURL(`${root}/${file}`).href)};\n`).join("");
}
