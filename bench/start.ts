/**
 * Measures start time: the compiled program and an empty compiled Deno program, each as a whole process, started in
 * turn so that a busy machine slows both. Exits with 1 if the ratio is above 1.3.
 */
import { parseArgs } from "node:util";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");
const LIMIT = 1.3;

interface Candidate {
  readonly name: string;
  readonly command: readonly string[];
  readonly times: number[];
}

async function main(): Promise<number> {
  const { values } = parseArgs({ args: Deno.args, options: { runs: { type: "string", default: "25" } } });
  const empty = `${ROOT}/.cache/bench/empty`;
  await compile(["--entry", `${ROOT}/bench/empty.ts`, "--output", empty]);
  await compile([]);
  const program = `${ROOT}/dist/kubectl-mesh`;
  const candidates: Candidate[] = [
    { name: "empty program", command: [empty], times: [] },
    { name: "kubectl-mesh version", command: [program, "version"], times: [] },
    { name: "kubectl-mesh --help", command: [program, "--help"], times: [] },
  ];
  for (let round = -2; round < Number(values.runs); round++) {
    for (const { command, times } of candidates) {
      const time = await timeOf(command);
      // The first rounds only warm the page cache.
      if (round >= 0) times.push(time);
    }
  }
  return report(candidates);
}

async function compile(args: readonly string[]) {
  const options = { args: ["run", "--quiet", "--allow-all", `${ROOT}/tools/compile.ts`, ...args] };
  const { success } = await new Deno.Command(Deno.execPath(), options).spawn().status;
  if (!success) throw new Error("Cannot compile the programs to measure");
}

/** Returns the milliseconds from start to end of a process. */
async function timeOf([program = "", ...args]: readonly string[]): Promise<number> {
  const start = performance.now();
  const { success } = await new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "null" }).spawn()
    .status;
  if (!success) throw new Error(`"${program}" failed`);
  return performance.now() - start;
}

function report(candidates: readonly Candidate[]): number {
  const base = median(candidates[0]?.times ?? []);
  let worst = 0;
  for (const { name, times } of candidates) {
    const ratio = median(times) / base;
    worst = Math.max(worst, ratio);
    print(`${name.padEnd(24)}${median(times).toFixed(1).padStart(7)} ms  ${ratio.toFixed(2)}x`);
  }
  print(`the limit is ${LIMIT.toFixed(2)}x: ${worst <= LIMIT ? "kept" : "broken"}`);
  return worst <= LIMIT ? 0 : 1;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}

function print(line: string) {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

Deno.exit(await main());
