/**
 * Measures `explain -A -o short` as a whole process for 500 pods, with a real API server and a stand-in kubelet whose
 * commands take 50 ms each: its time and its peak resident memory. Exits with 1 if the median time is above its goal.
 * `MESH_BINARY` is the path of the program.
 */
import { parseArgs } from "node:util";
import { connect } from "../../src/kube/client/mod.ts";
import { realWorld } from "../../src/platform/mod.ts";
import { MESH_COMMAND } from "../../test/support/programs/mesh.ts";
import { type Cluster, startOwnCluster } from "../../test/e2e/support/cluster/cluster.ts";
import { addServiceAccount } from "../../test/e2e/support/cluster/requests.ts";
import { startKubelet } from "../../test/e2e/support/kubelet.ts";
import { type Usage, usageOf } from "../usage.ts";

const PODS = 500;
const DELAY = 50;
const GOAL_SECONDS = 10;
const NAMESPACE = "shop";
const SNAPSHOT = decodeURIComponent(new URL("../../examples/explain/web", import.meta.url).pathname);

async function main(): Promise<number> {
  const { values } = parseArgs({ args: Deno.args, options: { runs: { type: "string", default: "5" } } });
  const cluster = await startOwnCluster();
  try {
    const node = await startKubelet(cluster);
    const folder = await programs();
    try {
      const names = Array.from({ length: PODS }, (_, at) => `web-${at}`);
      await addPods(cluster, names, node.name);
      const container = { path: `${folder}:${Deno.env.get("PATH")}`, delay: DELAY };
      await node.runs(Object.fromEntries(names.map((name) => [`${NAMESPACE}/${name}/istio-proxy`, container])));
      const runs: Usage[] = [];
      for (let run = 0; run < Number(values.runs); run++) runs.push(await measure(cluster.kubeconfig));
      return report(runs);
    } finally {
      await node.stop();
      await Deno.remove(folder, { recursive: true });
    }
  } finally {
    await cluster.stop();
  }
}

/**
 * Makes a folder with a pilot-agent that prints the parts of the example's configuration that the short output needs.
 */
async function programs(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "mesh-bench-" });
  const dump: { configs: Record<string, unknown>[] } = JSON.parse(
    await Deno.readTextFile(`${SNAPSHOT}/config_dump.json`),
  );
  const kept = ["@type", "version_info", "dynamic_active_secrets"];
  const configs = dump.configs.map((config) =>
    Object.fromEntries(Object.entries(config).filter(([key]) => kept.includes(key)))
  );
  await Deno.writeTextFile(`${folder}/config_dump`, JSON.stringify({ configs }));
  await Deno.copyFile(`${SNAPSHOT}/stats.txt`, `${folder}/stats`);
  const script =
    `#!/bin/sh\ncase $3 in config_dump*) exec cat ${folder}/config_dump ;; *) exec cat ${folder}/stats ;; esac\n`;
  await Deno.writeTextFile(`${folder}/pilot-agent`, script, { mode: 0o755 });
  return folder;
}

async function addPods(cluster: Cluster, names: readonly string[], nodeName: string): Promise<void> {
  await cluster.kubectl(["create", "namespace", NAMESPACE]);
  await addServiceAccount(cluster, NAMESPACE);
  const api = await connect(realWorld(), { kubeconfig: cluster.kubeconfig });
  const path = `/api/v1/namespaces/${NAMESPACE}/pods`;
  const containers = ["web", "istio-proxy"].map((name) => ({ name, image: name }));
  const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
  const left = [...names];
  async function work() {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      await api.create(path, { apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { nodeName, containers } });
      await api.patch(`${path}/${name}/status`, "merge", { status });
    }
  }
  await Promise.all(Array.from({ length: 16 }, work));
  api.close();
}

async function measure(kubeconfig: string): Promise<Usage> {
  const usage = await usageOf([MESH_COMMAND, "explain", "-A", "-o", "short"], {
    KUBECONFIG: kubeconfig,
    NO_COLOR: "1",
  });
  const lines = usage.stdout.trim().split("\n");
  const wrong = lines.slice(1).filter((line) => !/ yes +\d/.test(line));
  if (lines.length !== PODS + 1 || wrong.length > 0) {
    throw new Error(`${lines.length} lines, ${wrong.length} wrong: ${wrong[0]}\n${usage.stderr}`);
  }
  return usage;
}

function report(runs: readonly Usage[]): number {
  const seconds = runs.map((run) => run.seconds).toSorted((a, b) => a - b);
  const median = seconds[Math.floor(seconds.length / 2)] ?? Infinity;
  const processor = Math.min(...runs.map((run) => run.processor));
  const most = Math.max(...runs.map(({ megabytes }) => megabytes));
  const text =
    `explain -A -o short, ${PODS} pods: ${median.toFixed(1)} s (${
      seconds.map((each) => each.toFixed(1)).join(" ")
    }), ` +
    `${processor.toFixed(1)} s of the processor, ${most.toFixed(0)} MB; goal ${GOAL_SECONDS} s\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(text));
  return median <= GOAL_SECONDS ? 0 : 1;
}

Deno.exit(await main());
