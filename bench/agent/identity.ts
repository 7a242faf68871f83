/**
 * Measures the agent with an identity and a control plane, as a whole process with the real Envoy: the time from its
 * start to its certificate, the time from its start to the first status 200 on port 15021, and its memory and processor
 * time when idle. The control plane is the one that the tests use. `--after` is the number of seconds between the start
 * and the measurement of memory. Runs in its own network and mount namespaces; needs root and Go. `MESH_AGENT_BINARY`
 * is the path of the compiled binary. The peer is Istio's pilot-agent. Exits with 1 if a median or the memory is above
 * its limit.
 */
import { parseArgs } from "node:util";
import { realEnvoy } from "../../test/support/programs/envoy.ts";
import { goProgram } from "../../test/support/programs/go_program.ts";
import { makeMeshPod, type MeshPod, OUTPUT } from "./identity_pod.ts";
import {
  againInNamespaces,
  column,
  columns,
  end,
  eventually,
  median,
  pause,
  print,
  processorTime,
  resident,
  until,
} from "../measure.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");
const READY = "http://127.0.0.1:15021/healthz/ready";

/**
 * Limits: milliseconds to the first status 200, megabytes of memory, and milliseconds of processor time during `IDLE`.
 */
const LIMITS = { ready: 320, memory: 75, idle: 50 };
const IDLE = 5000;

async function main(): Promise<number> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      envoy: { type: "string" },
      plane: { type: "string" },
      runs: { type: "string", default: "9" },
      after: { type: "string", default: "2" },
    },
  });
  const { envoy, plane, after } = values;
  if (envoy === undefined || plane === undefined) return await inNamespace(["--runs", values.runs, "--after", after]);
  const pod = await makeMeshPod({ agent: await binary(), envoy, controlPlane: plane });
  try {
    print(`${"".padEnd(34)}${"median".padStart(8)}${"least".padStart(8)}${"most".padStart(8)}   limit     peer\n`);
    const runs = Number(values.runs);
    await measureCertificate(pod, runs);
    const isFast = await measureReady(pod, runs);
    return await measureIdle(pod, Number(after)) && isFast ? 0 : 1;
  } finally {
    await pod.remove();
  }
}

/**
 * Runs this file again in new namespaces, which are removed at its end. There, istiod's host name is this machine, and
 * nothing can be downloaded.
 */
async function inNamespace(words: readonly string[]): Promise<number> {
  const envoy = await realEnvoy();
  if (envoy.missing !== undefined) throw new Error(envoy.missing);
  const plane = await goProgram("test/e2e/servers/controlplane");
  const hosts = await Deno.makeTempFile({ prefix: "mesh-bench-hosts-" });
  await Deno.writeTextFile(hosts, "127.0.0.1 localhost istiod.istio-system.svc\n");
  const script = `mount --bind ${hosts} /etc/hosts && ip link set lo up && ip addr add 10.9.9.9/32 dev lo`;
  const flags = ["--envoy", envoy.path, "--plane", plane, ...words];
  const code = await againInNamespaces(`${ROOT}/bench/agent/identity.ts`, flags, { script, more: ["--mount"] });
  await Deno.remove(hosts);
  return code;
}

async function binary(): Promise<string> {
  return await Deno.realPath(Deno.env.get("MESH_AGENT_BINARY") ?? `${ROOT}/dist/agent/mesh-agent`);
}

/**
 * Measures the time until the certificate is in a file, which the agent writes when it starts to use the certificate.
 */
async function measureCertificate(pod: MeshPod, runs: number): Promise<void> {
  const times = await timesOf(runs, async () => {
    const child = pod.startAgent({ OUTPUT_CERTS: OUTPUT });
    await eventually("a certificate", pod.hasCertificate);
    return child;
  }, pod.forgetCertificate);
  print(`${"start to certificate".padEnd(34)}${columns(times)}   -         -\n`);
}

async function measureReady(pod: MeshPod, runs: number): Promise<boolean> {
  const times = await timesOf(runs, async () => {
    const child = pod.startAgent();
    await until(READY, (status) => status === 200);
    return child;
  });
  print(`${"start to 200 with a control plane".padEnd(34)}${columns(times)}   < ${LIMITS.ready} ms  260-320 ms\n`);
  return median(times) < LIMITS.ready;
}

/**
 * Returns the milliseconds of each run except the first, which warms the page cache. Stops the agent after each run.
 */
async function timesOf(
  runs: number,
  run: () => Promise<Deno.ChildProcess>,
  clean: () => Promise<void> = () => Promise.resolve(),
): Promise<number[]> {
  const times: number[] = [];
  for (let done = -1; done < runs; done++) {
    const begin = performance.now();
    const child = await run();
    if (done >= 0) times.push(performance.now() - begin);
    await end(child);
    await clean();
  }
  return times;
}

/** Measures the idle agent, with its DNS server, `after` seconds after the start. */
async function measureIdle(pod: MeshPod, after: number): Promise<boolean> {
  const child = pod.startAgent({ ISTIO_META_DNS_CAPTURE: "true" });
  await until(READY, (status) => status === 200);
  await pause(after * 1000);
  const before = await processorTime(child.pid);
  await pause(IDLE);
  const used = await processorTime(child.pid) - before;
  const size = await resident(child.pid);
  await end(child);
  print(`${"VmRSS when idle".padEnd(34)}${column(size)}${"".padStart(16)}   < ${LIMITS.memory} MB   38 MB\n`);
  print(`${`processor time in ${IDLE} ms`.padEnd(34)}${column(used)}${"".padStart(16)}   < ${LIMITS.idle} ms   -\n`);
  return size < LIMITS.memory && used < LIMITS.idle;
}

Deno.exit(await main());
