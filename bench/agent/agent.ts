/**
 * Measures the agent as a whole process with the real Envoy, whose clusters and listeners come from files: the time
 * from its start to the first status 200 on port 15021, and its resident memory, idle and after 10,000 requests to its
 * status server. For comparison, it also measures Envoy alone, from its start to the first response on that port: no
 * agent can be faster. Runs in its own network namespace; needs root. `MESH_AGENT_BINARY` is the path of the compiled
 * binary. The peer is Istio's pilot-agent. Exits with 1 if the memory is above its limit or grows.
 */
import { parseArgs } from "node:util";
import { realEnvoy } from "../../test/support/programs/envoy.ts";
import { makePod, type Pod } from "./agent_pod.ts";
import { againInNamespaces, column, columns, end, pause, print, resident, statusOf, until } from "../measure.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");
const READY = "http://127.0.0.1:15021/healthz/ready";
const STATUS = "http://127.0.0.1:15020/healthz/ready";

/**
 * Limits in MB: the resident memory, and its growth from the first to the last quarter of the requests. Some growth is
 * normal, because V8 waits for several megabytes of garbage (after 60,000 requests the process is smaller than after
 * 10,000).
 */
const LIMIT = 70;
const GROWTH = 6;
const REQUESTS = 10_000;

async function main(): Promise<number> {
  const { values } = parseArgs({
    args: Deno.args,
    options: { envoy: { type: "string" }, runs: { type: "string", default: "15" } },
  });
  if (values.envoy === undefined) return await inNamespace(["--runs", values.runs]);
  const pod = await makePod({ agent: await binary(), envoy: values.envoy });
  try {
    print(`${"".padEnd(30)}${"median".padStart(8)}${"least".padStart(8)}${"most".padStart(8)}   peer\n`);
    const runs = Number(values.runs);
    const isReady = (status: number) => status === 200;
    await measureStart({ name: "agent: start to 200", start: pod.startAgent, isReady, peer: "150 ms" }, runs);
    const isThere = (status: number) => status > 0;
    await measureStart({ name: "Envoy alone: to an answer", start: pod.startEnvoy, isReady: isThere, peer: "-" }, runs);
    return await measureMemory(pod) ? 0 : 1;
  } finally {
    await pod.remove();
  }
}

/**
 * Runs this file again in a new network namespace, which is removed at its end. Envoy is downloaded before, because the
 * namespace has no network.
 */
async function inNamespace(words: readonly string[]): Promise<number> {
  const envoy = await realEnvoy();
  if (envoy.missing !== undefined) throw new Error(envoy.missing);
  const script = "ip link set lo up && ip addr add 10.9.9.9/32 dev lo";
  return await againInNamespaces(`${ROOT}/bench/agent/agent.ts`, ["--envoy", envoy.path, ...words], { script });
}

async function binary(): Promise<string> {
  const named = Deno.env.get("MESH_AGENT_BINARY");
  if (named !== undefined) return await Deno.realPath(named);
  const forContainers = `${ROOT}/dist/agent/mesh-agent`;
  const isThere = await Deno.stat(forContainers).then(() => true, () => false);
  return isThere ? forContainers : `${ROOT}/dist/kubectl-mesh`;
}

interface Subject {
  readonly name: string;
  readonly start: () => Deno.ChildProcess;
  /** Whether a response with this status on port 15021 ends the measurement. */
  readonly isReady: (status: number) => boolean;
  readonly peer: string;
}

async function measureStart({ name, start, isReady, peer }: Subject, runs: number): Promise<void> {
  const times: number[] = [];
  for (let run = -1; run < runs; run++) {
    const begin = performance.now();
    const child = start();
    await until(READY, isReady);
    // The first run only warms the page cache.
    if (run >= 0) times.push(performance.now() - begin);
    await end(child);
  }
  print(`${name.padEnd(30)}${columns(times)}   ${peer}\n`);
}

async function measureMemory(pod: Pod): Promise<boolean> {
  const child = pod.startAgent();
  await until(READY, (status) => status === 200);
  await pause(3000);
  print(`${"agent: VmRSS when idle".padEnd(30)}${column(await resident(child.pid))}   36 MB\n`);
  const sizes: number[] = [];
  for (let quarter = 1; quarter <= 4; quarter++) {
    for (let done = 0; done < REQUESTS / 4; done++) await statusOf(STATUS);
    sizes.push(await resident(child.pid));
    print(`${`after ${(quarter * REQUESTS) / 4} requests`.padEnd(30)}${column(sizes.at(-1) ?? NaN)}   < ${LIMIT} MB\n`);
  }
  await end(child);
  const [first = NaN] = sizes;
  const last = sizes.at(-1) ?? NaN;
  const isFlat = last - first <= GROWTH;
  if (!isFlat) print(`It grew by ${(last - first).toFixed(1)} MB, more than ${GROWTH}\n`);
  return isFlat && Math.max(...sizes) < LIMIT;
}

Deno.exit(await main());
