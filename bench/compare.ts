/**
 * Compares two builds of the program as whole processes, started in turn so that a busy machine slows both. Prints the
 * median time and the peak memory of each, and the ratio. `tools/deno task bench compare -- --base FILE [--runs N]`
 * compares the binary FILE with `dist/kubectl-mesh` (or `MESH_BINARY`). Exits with 1 if the ratio of a median time is
 * above the limit.
 */
import { parseArgs } from "node:util";
import { manifestOf, SETTINGS } from "./inject/inject_input.ts";
import { median, print } from "./measure.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");
const BINARY = Deno.env.get("MESH_BINARY") ?? `${ROOT}/dist/kubectl-mesh`;

/** The ratio of times that a change may reach without a justification. */
const LIMIT = 1.03;

interface Subject {
  readonly name: string;
  readonly args: readonly string[];
  /** The expected exit code. */
  readonly code?: number;
  /** The share of `--runs` for this command; slow commands run less often. */
  readonly share?: number;
}

interface Run {
  readonly milliseconds: number;
  readonly megabytes: number;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    args: Deno.args,
    options: { base: { type: "string" }, runs: { type: "string", default: "40" } },
  });
  if (values.base === undefined) throw new Error("--base FILE is missing: the binary to compare with");
  const folder = await Deno.makeTempDir();
  try {
    // The layout of a file in the page cache can change its start by 10%, so both files are copied in the same way.
    const [base, binary] = [`${folder}/before`, `${folder}/after`];
    await Deno.copyFile(values.base, base);
    await Deno.copyFile(BINARY, binary);
    const ratios = [];
    for (const subject of await subjects(folder)) {
      ratios.push(await compare(subject, [base, binary], Math.max(3, Number(values.runs) * (subject.share ?? 1))));
    }
    return ratios.some((ratio) => ratio > LIMIT) ? 1 : 0;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function subjects(folder: string): Promise<Subject[]> {
  const small = `${ROOT}/examples/helloworld.yaml`;
  const large = `${folder}/large.yaml`;
  await Deno.writeTextFile(large, manifestOf(1000));
  const settings = ["--inject-config", "config.yaml", "--values", "values.yaml", "--mesh-config", "mesh.yaml"].map(
    (word) => word.startsWith("--") ? word : `${SETTINGS}/${word}`,
  );
  return [
    { name: "version", args: ["version"] },
    { name: "--help", args: ["--help"] },
    { name: "inject, built-in, one file", args: ["inject", "-f", small] },
    { name: "inject, Istio's, one file", args: ["inject", "-f", small, ...settings] },
    { name: "inject, Istio's, 2,000 Deployments", args: ["inject", "-f", large, ...settings], share: 0.2 },
    { name: "check injection -f", args: ["check", "injection", "-f", small] },
    { name: "iptables generate", args: ["iptables", "generate"] },
    { name: "istio-iptables --dry-run", args: ["istio-iptables", "--dry-run"] },
    { name: "agent bootstrap", args: ["agent", "bootstrap"] },
    { name: "wait, not ready", args: ["wait", "--timeout", "0", "--url", "http://127.0.0.1:9/"], code: 1 },
    { name: "webhook manifests", args: ["webhook", "manifests", "--revision", "mesh"] },
  ];
}

/** Prints one line; returns the ratio of the median times. */
async function compare(
  { name, args, code = 0 }: Subject,
  [base, binary]: readonly [string, string],
  runs: number,
): Promise<number> {
  const [before, after]: [Run[], Run[]] = [[], []];
  for (let round = -2; round < runs; round++) {
    // The first rounds warm the page cache. The order alternates.
    const order = round % 2 === 0
      ? [[base, before], [binary, after]] as const
      : [[binary, after], [base, before]] as const;
    for (const [binary, results] of order) {
      const run = await measure(binary, args, code);
      if (round >= 0) results.push(run);
    }
  }
  const times = [before, after].map((results) => median(results.map(({ milliseconds }) => milliseconds)));
  const memory = [before, after].map((results) => median(results.map(({ megabytes }) => megabytes)));
  const ratio = (times[1] ?? NaN) / (times[0] ?? NaN);
  print(
    `${name.padEnd(36)}${times.map((time) => time.toFixed(1).padStart(9)).join("")} ms  ${ratio.toFixed(3)}   ` +
      `${memory.map((size) => size.toFixed(1).padStart(7)).join("")} MB\n`,
  );
  return ratio;
}

async function measure(binary: string, args: readonly string[], expected: number): Promise<Run> {
  const start = performance.now();
  const child = new Deno.Command(binary, { args: [...args], stdin: "null", stdout: "null", stderr: "null" }).spawn();
  let megabytes = 0;
  const poll = setInterval(() => megabytes = Math.max(megabytes, peakOf(child.pid)), 5);
  const { code } = await child.status;
  clearInterval(poll);
  if (code !== expected) throw new Error(`exit code ${code} of ${binary} ${args.join(" ")}`);
  return { milliseconds: performance.now() - start, megabytes };
}

/** Returns the peak resident memory so far, in megabytes; 0 if the process is gone. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

Deno.exit(await main());
