/**
 * Runs the tests: `tools/deno task test [long [--minutes N]] [quick|unit|golden|e2e|FILE|FOLDER ...] [-- FLAGS of deno
 * test]`. Without names, it runs all suites except the files in HEAVY; `quick` means unit and golden. `long` runs the
 * long form of tests that have one, and stops after `--minutes`. `versions` makes the tables in docs/versions.md
 * (`test/versions/main.ts`). Runs several processes of `deno test` in parallel. Prints the output of each, followed by
 * the failures, the skipped tests with their reasons, `N not run: out of time`, and `N passed, N failed, N skipped`.
 * Exits with 1 if a test fails or no test runs.
 */
import { parseArgs } from "node:util";
import { ClusterPool, POOL } from "../test/e2e/support/cluster/pool.ts";
import { say } from "./compile/run.ts";
import { BUNDLED, bundledProgram } from "./test/bundled_program.ts";
import {
  ALONE,
  filesOf,
  GROUPS,
  HEAVY,
  inOrder,
  type Job,
  jobsOf,
  longJobsOf,
  runsProgram,
  SUITES,
} from "./test/jobs.ts";
import { MESH_BINARY } from "../test/support/programs/mesh.ts";
import { killLeftBehind, removeNamespaces, RUN } from "./test/left_behind.ts";
import { sum, summary } from "./test/report.ts";
import { type JobResult, runJob } from "./test/run_job.ts";
import { runJobs } from "./test/schedule.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");

/** Most end-to-end tests wait for a process or a timer, so there are more workers than processors. */
const WORKERS = navigator.hardwareConcurrency + 4;
/** The maximum number of API servers. Each takes 400 MB, and tests that use one wait more than they compute. */
const CLUSTERS = 3;

/** In CI, an outdated lock file is an error. */
const FROZEN = Deno.env.get("CI") === undefined ? [] : ["--frozen"];

/** On a terminal, the output has colors, as with `deno test` itself. */
const COLORS = Deno.stdout.isTerminal() && Deno.env.get("NO_COLOR") === undefined ? { FORCE_COLOR: "1" } : {};

async function main(args: readonly string[]): Promise<number> {
  const { named, isLong, minutes, flags } = asked(args);
  const isWhole = named.length === 0 && !isLong && MESH_BINARY === undefined;
  const all = chosen(named, isLong);
  const jobs = isWhole ? all.filter(({ files: [file = ""] }) => !HEAVY.includes(file)) : all;
  const run = await Run.start();
  const signal = minutes === undefined
    ? run.signal
    : AbortSignal.any([run.signal, AbortSignal.timeout(minutes * 60_000)]);
  const results = new Map<Job, Omit<JobResult, "output">>();
  const options = { root: ROOT, flags: [...FROZEN, ...flags], folder: run.folder, isLong, signal };
  const program = await programOf(jobs, run.folder);
  const runOne = async (job: Job) => {
    const env = { ...COLORS, ...startsProgram(job) ? program : {} };
    const { output, ...result } = await runJob(job, { ...options, env });
    if (!run.signal.aborted) print(`\n=== ${titleOf(job, result)}\n${output}`);
    results.set(job, result);
  };
  const limits = { workers: WORKERS, clusters: CLUSTERS, signal };
  try {
    const isAlone = ({ files: [file = ""] }: Job) => ALONE.includes(file);
    await runJobs(jobs.filter((job) => !isAlone(job)), limits, runOne);
    await runJobs(jobs.filter(isAlone), { ...limits, workers: 1 }, runOne);
  } finally {
    await run.end();
    // The signal handler exits the process.
    if (run.signal.aborted) await new Promise(() => {});
  }
  const ended = [...results.values()];
  const total = sum(ended.map(({ tally }) => tally));
  if (isWhole) {
    total.skipped.push(...HEAVY.map((file) => `${file} [skipped: takes long: \`test e2e\` runs it, or its name]`));
  }
  const notRun = jobs.filter((job) => results.get(job)?.isCut !== false).flatMap(({ files }) => files);
  print(summary(total, ended.flatMap(({ failures }) => failures), notRun));
  return total.failed > 0 || total.passed === 0 ? 1 : 0;
}

/** Parses the command line. */
function asked(args: readonly string[]) {
  const end = args.indexOf("--");
  const { values: { minutes }, positionals } = parseArgs({
    args: args.slice(0, end < 0 ? args.length : end),
    allowPositionals: true,
    options: { minutes: { type: "string" } },
  });
  if (minutes !== undefined && !(Number(minutes) > 0)) throw new Error(`"${minutes}" is not a number of minutes`);
  const isLong = positionals[0] === "long";
  return {
    named: positionals.slice(isLong ? 1 : 0).flatMap((name) => GROUPS[name] ?? [name]),
    isLong,
    minutes: minutes === undefined ? undefined : Number(minutes),
    flags: end < 0 ? [] : args.slice(end + 1),
  };
}

function startsProgram({ suite }: Job): boolean {
  return suite !== "unit";
}

/**
 * Returns the variable that makes tests start a bundle instead of the sources: they start the program a thousand times.
 */
async function programOf(jobs: readonly Job[], folder: string): Promise<Readonly<Record<string, string>>> {
  if (MESH_BINARY !== undefined || !jobs.some((job) => startsProgram(job) && job.files.some(runsProgram))) return {};
  try {
    return { [BUNDLED]: await bundledProgram(ROOT, `${folder}/program`) };
  } catch (error) {
    // This can fail if the bundler is not downloaded yet.
    print(
      `note: Tests start the sources unbundled, which is slower: ${error instanceof Error ? error.message : error}\n`,
    );
    return {};
  }
}

function titleOf({ suite, files }: Job, { seconds }: Pick<JobResult, "seconds">): string {
  const [first = "", ...others] = files;
  return `${suite}: ${first}${others.length > 0 ? ` and ${others.length} more files` : ""} (${seconds}s)`;
}

/**
 * Returns the jobs for suites, files and folders, in starting order. When a compiled binary is tested, unit tests are
 * left out unless their file is named.
 */
function chosen(named: readonly string[], isLong: boolean): Job[] {
  const suites = Object.keys(SUITES).map((suite) => ({ suite, files: filesOf(suite, ROOT) }));
  const unknown = named.find((name) => {
    return suites.every(({ suite, files }) => suite !== name && !files.some((file) => isIn(file, name)));
  });
  if (unknown !== undefined) {
    Deno.stderr.writeSync(
      new TextEncoder().encode(`error: No suite, file or folder of tests is called "${unknown}"\n`),
    );
    Deno.exit(2);
  }
  return inOrder(suites.flatMap(({ suite, files }) => {
    const isNamed = (file: string) => named.length === 0 || named.some((name) => suite === name || isIn(file, name));
    const differs = (file: string) => suite === "unit" || named.includes(file) || runsProgram(file);
    const jobs = isLong ? longJobsOf : jobsOf;
    return jobs(suite, files.filter((file) => isNamed(file) && (MESH_BINARY === undefined || differs(file))), ROOT);
  }));
}

function isIn(file: string, path: string): boolean {
  return file === path || file.startsWith(`${path.replace(/\/$/, "")}/`);
}

/** Resources that all tests of a run share. They are released when the run ends or is interrupted by a signal. */
class Run {
  readonly #id = crypto.randomUUID();
  readonly #clusters: ClusterPool;
  readonly #stop = new AbortController();
  readonly signal = this.#stop.signal;
  #ended: Promise<void> | undefined;

  /** Sets the variables that the tests and the pool's servers inherit. */
  private constructor(readonly folder: string) {
    this.#clusters = new ClusterPool(`${folder}/clusters`, CLUSTERS);
    for (const [name, value] of [["TMPDIR", folder], [POOL, this.#clusters.path], [RUN, this.#id]] as const) {
      Deno.env.set(name, value);
    }
    for (const [signal, number] of [["SIGINT", 2], ["SIGTERM", 15], ["SIGHUP", 1]] as const) {
      Deno.addSignalListener(signal, () => void this.#abort(128 + number));
    }
  }

  static async start(): Promise<Run> {
    // The path must be short, because paths of Unix sockets are limited. The folder is readable by all, because some
    // tests run as other users.
    const folder = await Deno.makeTempDir({ prefix: "mt-" });
    await Deno.chmod(folder, 0o755);
    await preferRealPython(`${folder}/bin`);
    return new Run(folder);
  }

  /** Stops everything that still runs. Further calls have no effect. */
  end(): Promise<void> {
    return this.#ended ??= this.#end();
  }

  async #end(): Promise<void> {
    killLeftBehind(this.#id);
    await this.#clusters.stop();
    removeNamespaces(this.#id);
    await Deno.remove(this.folder, { recursive: true }).catch(() => {});
  }

  /** A server that is still starting is not awaited: it exits with this process. */
  async #abort(code: number): Promise<void> {
    this.#stop.abort();
    await Promise.race([this.end(), new Promise((resolve) => setTimeout(resolve, 3000))]);
    killLeftBehind(this.#id);
    Deno.exit(code);
  }
}

/**
 * Puts a folder with a link to the real Python interpreter first on the PATH. The `python3` of pyenv is a shell script,
 * which adds about 50 ms of processor time to each of 200 starts.
 */
async function preferRealPython(folder: string): Promise<void> {
  const script = "import sys; print(sys.executable, end='')";
  const found = await new Deno.Command("python3", { args: ["-c", script] }).output().catch(() => undefined);
  if (found?.success !== true) return;
  await Deno.mkdir(folder);
  await Deno.symlink(new TextDecoder().decode(found.stdout), `${folder}/python3`);
  Deno.env.set("PATH", `${folder}:${Deno.env.get("PATH") ?? ""}`);
}

function print(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) written += Deno.stdout.writeSync(bytes.subarray(written));
}

/** Runs the program that makes the tables in docs/versions.md. */
async function versions(args: readonly string[]): Promise<number> {
  const program = `${ROOT}/test/versions/main.ts`;
  const { code } = await new Deno.Command(Deno.execPath(), { args: ["run", "--allow-all", program, ...args] }).spawn()
    .status;
  return code;
}

const [name, ...others] = Deno.args;
try {
  Deno.exit(name === "versions" ? await versions(others) : await main(Deno.args));
} catch (error) {
  say(`error: ${error instanceof Error ? error.message : String(error)}`);
  Deno.exit(1);
}
