/**
 * Runs the tests: `tools/deno task test [unit|golden|e2e|FILE|FOLDER ...] [-- FLAGS of deno test]`, all suites unless
 * some are named. Several processes of `deno test` run at a time; the output of each is printed when it ends. Closes with
 * the failures, the skipped tests with their reasons, and `N passed, N failed, N skipped`. The exit code is 1 if a test
 * failed or none ran.
 */
import { ClusterPool, POOL } from "../test/e2e/support/cluster/pool.ts";
import { filesOf, type Job, jobsOf, SUITES } from "./test/jobs.ts";
import { killLeftBehind, RUN } from "./test/left_behind.ts";
import { sum, summary, type Tally } from "./test/report.ts";
import { type JobOptions, runJob } from "./test/run_job.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");

/** Most end-to-end tests wait for a process or a timer: more run at a time than there are processors. */
const WORKERS = navigator.hardwareConcurrency + 3;
/** API servers that are started at most: each takes 300 MB. */
const CLUSTERS = 2;

/** In CI a lock file that is out of date is an error. */
const FROZEN = Deno.env.get("CI") === undefined ? [] : ["--frozen"];

/** A terminal gets colors as from `deno test` itself. */
const COLORS = Deno.stdout.isTerminal() && Deno.env.get("NO_COLOR") === undefined ? { FORCE_COLOR: "1" } : {};

async function main(args: readonly string[]): Promise<number> {
  const end = args.indexOf("--");
  const named = end < 0 ? args : args.slice(0, end);
  const flags = end < 0 ? [] : args.slice(end + 1);
  const jobs = chosen(named);
  const run = await Run.start();
  try {
    const options = { root: ROOT, flags: [...FROZEN, ...flags], folder: run.folder, env: COLORS };
    const results = [
      ...await runAll(jobs.flatMap(({ beside }) => beside), WORKERS, options),
      ...await runAll(jobs.flatMap(({ alone }) => alone), 1, options),
    ];
    for (const { errors } of results) if (errors !== "") print(`\n=== Failed\n\n${errors}\n`);
    const total = sum(results.map(({ tally }) => tally));
    print(summary(total));
    return total.failed > 0 || total.passed === 0 ? 1 : 0;
  } finally {
    await run.end();
  }
}

/** The jobs of suites, files and folders; the slowest suite first. */
function chosen(named: readonly string[]): ReturnType<typeof jobsOf>[] {
  const suites = Object.keys(SUITES).map((suite) => ({ suite, files: filesOf(suite, ROOT) })).toReversed();
  const unknown = named.find((name) => {
    return suites.every(({ suite, files }) => suite !== name && !files.some((file) => isIn(file, name)));
  });
  if (unknown !== undefined) throw new Error(`No suite, file or folder of tests is called "${unknown}"`);
  return suites.map(({ suite, files }) => {
    const isNamed = (file: string) => named.some((name) => suite === name || isIn(file, name));
    return jobsOf(suite, named.length === 0 ? files : files.filter(isNamed));
  });
}

function isIn(file: string, path: string): boolean {
  return file === path || file.startsWith(`${path.replace(/\/$/, "")}/`);
}

/** What all tests of a run share, and what is gone when it ends or is ended by a signal. */
class Run {
  private constructor(readonly id: string, readonly folder: string, readonly clusters: ClusterPool) {}

  /** Sets the variables that tests and the servers of the pool inherit. */
  static async start(): Promise<Run> {
    // Short, because the paths of Unix sockets are; and readable, because some tests run as other users.
    const folder = await Deno.makeTempDir({ prefix: "mt-" });
    await Deno.chmod(folder, 0o755);
    const clusters = new ClusterPool(`${folder}/clusters`, CLUSTERS);
    const run = new Run(crypto.randomUUID(), folder, clusters);
    for (const [name, value] of [["TMPDIR", folder], [POOL, clusters.path], [RUN, run.id]] as const) {
      Deno.env.set(name, value);
    }
    for (const [signal, number] of [["SIGINT", 2], ["SIGTERM", 15], ["SIGHUP", 1]] as const) {
      Deno.addSignalListener(signal, () => void run.end().finally(() => Deno.exit(128 + number)));
    }
    return run;
  }

  async end(): Promise<void> {
    killLeftBehind(this.id);
    await this.clusters.stop();
    await Deno.remove(this.folder, { recursive: true }).catch(() => {});
  }
}

interface Result {
  readonly tally: Tally;
  readonly errors: string;
}

/** Runs jobs, so many at a time, and prints the output of each. */
async function runAll(jobs: readonly Job[], workers: number, options: JobOptions): Promise<Result[]> {
  const results: Result[] = [];
  const queue = [...jobs];
  const work = async () => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const start = performance.now();
      const { output, ...result } = await runJob(job, options);
      const seconds = Math.round((performance.now() - start) / 1000);
      const [first = "", ...others] = job.files;
      const name = others.length === 0 ? first : `${first} and ${others.length} more files`;
      print(`\n=== ${job.suite}: ${name} (${seconds}s)\n${output}`);
      results.push(result);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return results;
}

function print(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) written += Deno.stdout.writeSync(bytes.subarray(written));
}

Deno.exit(await main(Deno.args));
