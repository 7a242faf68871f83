/**
 * Runs the tests: `tools/deno task test [long [--minutes N]] [quick|unit|golden|e2e|FILE|FOLDER ...] [-- FLAGS of deno test]`,
 * all suites unless some are named, without the heavy files; `quick` is unit and golden. `long` runs the tests that have a long form in it, and ends
 * after so many minutes. `versions` makes the tables of docs/versions.md (`test/versions/main.ts`). Several processes of `deno test` run at a time; the output of each is printed when it ends. Closes
 * with the failures, the skipped tests with their reasons, `N not run: out of time`, and `N passed, N failed, N skipped`.
 * The exit code is 1 if a test failed or none ran.
 */
import { parseArgs } from "node:util";
import { ClusterPool, POOL } from "../test/e2e/support/cluster/pool.ts";
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

/** Most end-to-end tests wait for a process or a timer: more run at a time than there are processors. */
const WORKERS = navigator.hardwareConcurrency + 4;
/** API servers that are started at most: each takes 400 MB, and tests with one wait more than they compute. */
const CLUSTERS = 3;

/** In CI a lock file that is out of date is an error. */
const FROZEN = Deno.env.get("CI") === undefined ? [] : ["--frozen"];

/** A terminal gets colors as from `deno test` itself. */
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
    const isAlone = ({ files: [file = ""] }: Job) => isLong && ALONE.includes(file);
    await runJobs(jobs.filter((job) => !isAlone(job)), limits, runOne);
    await runJobs(jobs.filter(isAlone), { ...limits, workers: 1 }, runOne);
  } finally {
    await run.end();
    // The handler of the signal exits.
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

/** What the command line asks for. */
function asked(args: readonly string[]) {
  const end = args.indexOf("--");
  const { values: { minutes }, positionals } = parseArgs({
    args: args.slice(0, end < 0 ? args.length : end),
    allowPositionals: true,
    options: { minutes: { type: "string" } },
  });
  if (minutes !== undefined && !(Number(minutes) > 0)) throw new Error(`"${minutes}" is no number of minutes`);
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

/** The variable for tests that start the program from the sources: they do so a thousand times. */
async function programOf(jobs: readonly Job[], folder: string): Promise<Readonly<Record<string, string>>> {
  if (MESH_BINARY !== undefined || !jobs.some((job) => startsProgram(job) && job.files.some(runsProgram))) return {};
  try {
    return { [BUNDLED]: await bundledProgram(ROOT, `${folder}/program`) };
  } catch (error) {
    // The bundler is downloaded on first use.
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
 * The jobs of suites, files and folders, in the order of their start. With a binary, tests of functions do not run again,
 * unless their file is named.
 */
function chosen(named: readonly string[], isLong: boolean): Job[] {
  const suites = Object.keys(SUITES).map((suite) => ({ suite, files: filesOf(suite, ROOT) }));
  const unknown = named.find((name) => {
    return suites.every(({ suite, files }) => suite !== name && !files.some((file) => isIn(file, name)));
  });
  if (unknown !== undefined) throw new Error(`No suite, file or folder of tests is called "${unknown}"`);
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

/** What all tests of a run share. It is gone when the run ends, or is ended by a signal. */
class Run {
  readonly #id = crypto.randomUUID();
  readonly #clusters: ClusterPool;
  readonly #stop = new AbortController();
  readonly signal = this.#stop.signal;
  #ended: Promise<void> | undefined;

  /** Sets the variables that tests and the servers of the pool inherit. */
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
    // The path is short: paths of Unix sockets must be. Some tests run as other users.
    const folder = await Deno.makeTempDir({ prefix: "mt-" });
    await Deno.chmod(folder, 0o755);
    await preferRealPython(`${folder}/bin`);
    return new Run(folder);
  }

  /** Ends what still runs. Only the first call does something. */
  end(): Promise<void> {
    return this.#ended ??= this.#end();
  }

  async #end(): Promise<void> {
    killLeftBehind(this.#id);
    await this.#clusters.stop();
    removeNamespaces(this.#id);
    await Deno.remove(this.folder, { recursive: true }).catch(() => {});
  }

  /** A server that just starts is not waited for: it ends with this process. */
  async #abort(code: number): Promise<void> {
    this.#stop.abort();
    await Promise.race([this.end(), new Promise((resolve) => setTimeout(resolve, 3000))]);
    killLeftBehind(this.#id);
    Deno.exit(code);
  }
}

/**
 * Puts a folder with a link to the Python interpreter itself before the others of PATH: the `python3` of pyenv is a shell script, which
 * costs some 50 ms of processor time for each of 200 starts.
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

/** The tables of docs/versions.md: a program of its own. */
async function versions(args: readonly string[]): Promise<number> {
  const program = `${ROOT}/test/versions/main.ts`;
  const { code } = await new Deno.Command(Deno.execPath(), { args: ["run", "--allow-all", program, ...args] }).spawn()
    .status;
  return code;
}

const [name, ...others] = Deno.args;
Deno.exit(name === "versions" ? await versions(others) : await main(Deno.args));
