/**
 * Measures whole processes of `inject`: with one small file, and with 2,000 Deployments in one file of 1.2 MB. `--peer
 * FILE` also measures the istioctl in FILE, in turn. Prints medians of the time, the processor time (user and system,
 * from the shell's `times`) and the peak memory. Run with `tools/deno task bench inject`; the binary must be compiled.
 */
import { parseArgs } from "node:util";
import { column, median, print } from "../measure.ts";
import { manifestOf, SETTINGS } from "./inject_input.ts";

const ROOT = decodeURIComponent(new URL("../../", import.meta.url).pathname);
const BINARY = Deno.env.get("MESH_BINARY") ?? `${ROOT}dist/kubectl-mesh`;

interface Subject {
  readonly name: string;
  readonly file: string;
  readonly runs: number;
  /** Whether the built-in configuration is used, which the peer does not have. */
  readonly builtIn?: boolean;
}

interface Run {
  readonly seconds: number;
  readonly processor: number;
  readonly megabytes: number;
}

/**
 * The command lines that inject a file. If a revision is given, istioctl does not ask a cluster for the default one.
 */
const OURS = (file: string) => [BINARY, "inject", "-f", file];
const OURS_WITH_SETTINGS = (file: string) => [...OURS(file), ...settings("inject-config", "mesh-config", "values")];
const PEERS = (peer: string) => (file: string) => [
  ...[peer, "kube-inject", "--revision", "default", "-f", file],
  ...settings("injectConfigFile", "meshConfigFile", "valuesFile"),
];

function settings(...flags: readonly string[]): string[] {
  const names = ["config.yaml", "mesh.yaml", "values.yaml"];
  return flags.map((flag, index) => `--${flag}=${SETTINGS}/${names[index]}`);
}

/** Discards the output of a command. The shell prints its process id, and the time that it took. */
const SCRIPT = '"$@" </dev/null >/dev/null 2>&1 & echo $!; wait $! || exit 1; times';

async function measure(command: readonly string[]): Promise<Run> {
  const start = performance.now();
  const shell = new Deno.Command("sh", { args: ["-c", SCRIPT, "sh", ...command], stdout: "piped" }).spawn();
  let [text, kilobytes] = ["", 0];
  const poll = setInterval(() => kilobytes = Math.max(kilobytes, peakKilobytes(parseInt(text))), 5);
  for await (const part of shell.stdout.pipeThrough(new TextDecoderStream())) text += part;
  const { code } = await shell.status;
  const seconds = (performance.now() - start) / 1000;
  clearInterval(poll);
  if (code !== 0) throw new Error(`"${command.join(" ")}" failed`);
  const times = [...(text.trim().split("\n").at(-1) ?? "").matchAll(/(\d+)m([\d.]+)s/g)];
  const processor = times.reduce((sum, [, minutes, rest]) => sum + 60 * Number(minutes) + Number(rest), 0);
  return { seconds, processor, megabytes: kilobytes / 1024 };
}

/** Returns the peak memory that the kernel has recorded so far; 0 if the process is gone. */
function peakKilobytes(pid: number): number {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

async function main(): Promise<void> {
  const { peer } = parseArgs({ args: Deno.args, options: { peer: { type: "string" } } }).values;
  const folder = await Deno.makeTempDir();
  const large = `${folder}/large.yaml`;
  await Deno.writeTextFile(large, manifestOf(1000));
  const small = `${ROOT}examples/helloworld.yaml`;
  const subjects: Subject[] = [
    { name: "one small file", file: small, runs: 15 },
    { name: "one small file, built-in configuration", file: small, runs: 15, builtIn: true },
    { name: "2,000 Deployments", file: large, runs: 3 },
  ];
  print(`${"".padEnd(50)}       s   CPU s      MB\n`);
  try {
    for (const { name, file, runs, builtIn = false } of subjects) {
      const commands = new Map([["", builtIn ? OURS(file) : OURS_WITH_SETTINGS(file)]]);
      if (peer !== undefined && !builtIn) commands.set(", istioctl", PEERS(peer)(file));
      const all = await inTurn(commands, runs);
      for (const [who, results] of all) print(`${(name + who).padEnd(50)}${figures(results)}\n`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs the commands in turn, this many times each, and returns the runs by command name. */
async function inTurn(
  commands: ReadonlyMap<string, readonly string[]>,
  runs: number,
): Promise<ReadonlyMap<string, readonly Run[]>> {
  const all = new Map([...commands.keys()].map((who): [string, Run[]] => [who, []]));
  for (let run = 0; run < runs; run++) {
    for (const [who, command] of commands) all.get(who)?.push(await measure(command));
  }
  return all;
}

function figures(runs: readonly Run[]): string {
  const [seconds = NaN, processor = NaN] = (["seconds", "processor"] as const)
    .map((key) => median(runs.map((run) => run[key])));
  const times = [seconds, processor].map((time) => time.toFixed(3).padStart(8)).join("");
  return times + column(median(runs.map(({ megabytes }) => megabytes)));
}

await main();
