/**
 * Measures `explain -f` as a whole process, for a pod with 2,000 clusters and 5,000 endpoints: its time, its processor
 * time and its peak resident memory. Exits with 1 if the peak memory is above its goal, or the median processor time,
 * which varies least on a busy machine. `MESH_BINARY` is the path of the compiled binary.
 */
import { parseArgs } from "node:util";
import { snapshotFiles } from "./explain_snapshot.ts";
import { columns, median, print } from "../measure.ts";
import { type Usage, usageOf } from "../usage.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");
const BINARY = Deno.env.get("MESH_BINARY") ?? `${ROOT}/dist/kubectl-mesh`;
const SIZE = { clusters: 2000, endpoints: 5000 };

const GOAL = { seconds: 1, megabytes: 250 };

async function main(): Promise<number> {
  const { values } = parseArgs({ args: Deno.args, options: { runs: { type: "string", default: "7" } } });
  const folder = await Deno.makeTempDir();
  try {
    let bytes = 0;
    for (const [name, text] of snapshotFiles(SIZE)) {
      bytes += text.length;
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
    await measure(folder);
    const runs: Usage[] = [];
    for (let run = 0; run < Number(values.runs); run++) runs.push(await measure(folder));
    return report(runs, bytes);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs the program once, and checks that the output is about the right service. */
async function measure(folder: string): Promise<Usage> {
  const args = ["explain", "-f", folder, "--to", "service-1234.namespace-34:8080/v2/7", "-o", "json"];
  const usage = await usageOf([BINARY, ...args], { KUBECONFIG: "/nonexistent" });
  if (!usage.stdout.includes('"name": "outbound|8080||service-1234.namespace-34.svc.cluster.local"')) {
    throw new Error(`"${BINARY}" answers ${usage.stdout.slice(0, 500)} ${usage.stderr}`);
  }
  return usage;
}

function report(runs: readonly Usage[], bytes: number): number {
  const [times, used, sizes] = [
    runs.map(({ seconds }) => seconds * 1000),
    runs.map(({ processor }) => processor * 1000),
    runs.map(({ megabytes }) => megabytes),
  ];
  print(`2,000 clusters and 5,000 endpoints, a snapshot of ${(bytes / 1e6).toFixed(1)} MB\n`);
  print(`${"".padEnd(16)}${["median", "least", "most", "goal"].map((word) => word.padStart(8)).join("")}\n`);
  print(`${"ms".padEnd(16)}${columns(times)}\n`);
  print(`${"ms of processor".padEnd(16)}${columns(used)}${`< ${GOAL.seconds * 1000}`.padStart(8)}\n`);
  print(`${"peak in MB".padEnd(16)}${columns(sizes)}${`< ${GOAL.megabytes}`.padStart(8)}\n`);
  return median(used) > GOAL.seconds * 1000 || Math.max(...sizes) > GOAL.megabytes ? 1 : 0;
}

Deno.exit(await main());
