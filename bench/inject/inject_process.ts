// deno-lint-ignore-file no-console -- a benchmark talks to whoever runs it
/**
 * Whole processes of `inject`, as a user meets them: one small file, and 2,000 Deployments in one file of 1.3 MB.
 * Run with `tools/deno task bench`; the binary must be compiled. The peer's times are those of the issue, measured on
 * such a machine: ratios are only worth something there.
 */
import { manifestOf, SETTINGS } from "./inject_input.ts";

const ROOT = decodeURIComponent(new URL("../../", import.meta.url).pathname);
const BINARY = Deno.env.get("MESH_BINARY") ?? `${ROOT}dist/kubectl-mesh`;

interface Subject {
  readonly name: string;
  readonly args: readonly string[];
  readonly runs: number;
  /** Seconds and MB of istioctl kube-inject. */
  readonly peer: { readonly seconds: number; readonly megabytes?: number };
}

/** Seconds and peak resident megabytes of one run. */
async function measure(args: readonly string[]): Promise<{ seconds: number; megabytes: number }> {
  const start = performance.now();
  const child = new Deno.Command(BINARY, { args: [...args], stdin: "null", stdout: "null", stderr: "null" }).spawn();
  let kilobytes = 0;
  const poll = setInterval(() => kilobytes = Math.max(kilobytes, peakKilobytes(child.pid)), 5);
  const { code } = await child.status;
  const seconds = (performance.now() - start) / 1000;
  clearInterval(poll);
  if (code !== 0) throw new Error(`exit code ${code} of inject ${args.join(" ")}`);
  return { seconds, megabytes: kilobytes / 1024 };
}

/** What the kernel has recorded so far; 0 when the process is gone. */
function peakKilobytes(pid: number): number {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function main(): Promise<void> {
  const folder = await Deno.makeTempDir();
  const large = `${folder}/large.yaml`;
  await Deno.writeTextFile(large, manifestOf(1000));
  const settings = [
    `--inject-config=${SETTINGS}/config.yaml`,
    `--values=${SETTINGS}/values.yaml`,
    `--mesh-config=${SETTINGS}/mesh.yaml`,
  ];
  const small = `${ROOT}examples/helloworld.yaml`;
  const subjects: Subject[] = [
    { name: "one small file", args: ["-f", small, ...settings], runs: 15, peer: { seconds: 0.08 } },
    { name: "one small file, built-in configuration", args: ["-f", small], runs: 15, peer: { seconds: 0.08 } },
    { name: "2,000 Deployments", args: ["-f", large, ...settings], runs: 3, peer: { seconds: 7.7, megabytes: 105 } },
  ];
  for (const { name, args, runs, peer } of subjects) {
    const all = [];
    for (let run = 0; run < runs; run++) all.push(await measure(["inject", ...args]));
    const seconds = median(all.map((one) => one.seconds));
    const megabytes = Math.max(...all.map((one) => one.megabytes));
    const memory = peer.megabytes === undefined ? "" : ` (istioctl ${peer.megabytes})`;
    console.log(
      `${name}: ${seconds.toFixed(3)} s, ${(seconds / peer.seconds).toFixed(2)} of istioctl's ${peer.seconds} s; ` +
        `peak ${megabytes.toFixed(0)} MB${memory}`,
    );
  }
  await Deno.remove(folder, { recursive: true });
}

await main();
