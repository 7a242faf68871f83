/**
 * `explain -f` as a whole process, for a pod with 2,000 clusters and 5,000 endpoints: its seconds and its peak resident
 * memory. The goal is that of the issue: exit code 1 if the median of the seconds or the most memory is above it.
 * `MESH_BINARY` names the binary, which must be compiled.
 */
import { parseArgs } from "node:util";
import { captureFiles } from "./explain_capture.ts";
import { columns, median, print } from "./measure.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");
const BINARY = Deno.env.get("MESH_BINARY") ?? `${ROOT}/dist/kubectl-mesh`;
const SIZE = { clusters: 2000, endpoints: 5000 };

const GOAL = { seconds: 1, megabytes: 250 };

interface Run {
  readonly milliseconds: number;
  readonly megabytes: number;
}

async function main(): Promise<number> {
  const { values } = parseArgs({ args: Deno.args, options: { runs: { type: "string", default: "7" } } });
  const folder = await Deno.makeTempDir();
  try {
    let bytes = 0;
    for (const [name, text] of captureFiles(SIZE)) {
      bytes += text.length;
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
    await measure(folder);
    const runs: Run[] = [];
    for (let run = 0; run < Number(values.runs); run++) runs.push(await measure(folder));
    return report(runs, bytes);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** One run. The answer must be the one of the service that is asked for. */
async function measure(folder: string): Promise<Run> {
  const args = ["explain", "-f", folder, "--to", "service-1234.namespace-34:8080/v2/7", "-o", "json"];
  const start = performance.now();
  const child = new Deno.Command(BINARY, { args, stdin: "null", stdout: "piped", stderr: "piped" }).spawn();
  let most = 0;
  const poll = setInterval(() => most = Math.max(most, peak(child.pid)), 5);
  const { stdout, stderr } = await child.output();
  clearInterval(poll);
  const milliseconds = performance.now() - start;
  const text = new TextDecoder().decode(stdout);
  if (!text.includes('"name": "outbound|8080||service-1234.namespace-34.svc.cluster.local"')) {
    throw new Error(`"${BINARY}" answers ${text.slice(0, 500)} ${new TextDecoder().decode(stderr)}`);
  }
  return { milliseconds, megabytes: most / 1e6 };
}

/** Bytes; 0 when the process is gone. */
function peak(pid: number): number {
  try {
    return 1024 * Number(/VmHWM:\s*(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function report(runs: readonly Run[], bytes: number): number {
  const [times, sizes] = [runs.map(({ milliseconds }) => milliseconds), runs.map(({ megabytes }) => megabytes)];
  print(`2,000 clusters and 5,000 endpoints, a capture of ${(bytes / 1e6).toFixed(1)} MB\n`);
  print(`${"".padEnd(12)}${["median", "least", "most", "goal"].map((word) => word.padStart(8)).join("")}\n`);
  print(`${"ms".padEnd(12)}${columns(times)}${`< ${GOAL.seconds * 1000}`.padStart(8)}\n`);
  print(`${"peak in MB".padEnd(12)}${columns(sizes)}${`< ${GOAL.megabytes}`.padStart(8)}\n`);
  return median(times) > GOAL.seconds * 1000 || Math.max(...sizes) > GOAL.megabytes ? 1 : 0;
}

Deno.exit(await main());
