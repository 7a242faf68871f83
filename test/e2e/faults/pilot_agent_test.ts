/**
 * Istio's pilot-agent under the cheap faults of Envoy, only in a long run: figures for docs/reliability.md. The tests
 * do not judge what pilot-agent does.
 */
import { isLong, printFigure } from "../../support/long.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { MeshPod, missing } from "../agent/support/mesh_pod.ts";
import { PILOT_AGENT } from "../mesh/support/agents.ts";
import { AgentProcess } from "./support/agent_process.ts";
import { randomOf } from "./support/random.ts";

const needs = missing ?? (isLong() ? undefined : "only in `test long`");
const STARTS = 20;
const LONGEST_START = 2500;

/** Without a control plane, as in the tests of this program's agent. */
async function pilotAgent(pod: MeshPod, script?: string): Promise<AgentProcess> {
  const { entry: [program = ""], files = {} } = await PILOT_AGENT.image();
  const [template = ""] = Object.values(files);
  const env = pod.env({ controlPlaneAuthPolicy: "NONE", discoveryAddress: "127.0.0.1:15010" });
  if (script !== undefined) {
    await pod.write("envoy.sh", `#!/bin/sh\n${script}\n`);
    await Deno.chmod(`${pod.folder}/envoy.sh`, 0o755);
    env["PROXY_CONFIG"] = JSON.stringify({ ...JSON.parse(env["PROXY_CONFIG"] ?? "{}"), binaryPath: "./envoy.sh" });
  }
  const argv = ["proxy", "sidecar", "--domain", "default.svc.cluster.local", "--templateFile", template];
  return new AgentProcess(pod, { command: [program, ...argv], env });
}

/** `until` throws if the agent does not end within a minute. */
async function endOf(agent: AgentProcess): Promise<string> {
  await until(() => agent.hasEnded, "It does not end");
  const { code, milliseconds } = await agent.end;
  return `code ${code} after ${milliseconds.toFixed()} ms, ${agent.processes().length} processes left`;
}

testWhen(needs, "pilot-agent with an Envoy that crashes", async () => {
  await using pod = await MeshPod.create();
  await using agent = await pilotAgent(pod, "echo crash >&2; kill -SEGV $$");
  printFigure(`pilot-agent, crash: ${await endOf(agent)}\n${agent.text.slice(-600)}`);
});

testWhen(needs, "pilot-agent with an Envoy that never gets ready", async () => {
  await using pod = await MeshPod.create();
  await using agent = await pilotAgent(pod, "trap 'exit 0' TERM; while :; do sleep 0.05; done");
  const application = await pod.application();
  await until(async () => (await application.ask("http://127.0.0.1:15020/healthz/ready")).status === 503);
  const before = agent.processorTime();
  const asked = 2000;
  for (let n = 0; n < asked; n++) await application.ask("http://127.0.0.1:15020/healthz/ready");
  const each = (agent.processorTime() - before) / asked;
  agent.signal("SIGTERM");
  printFigure(`pilot-agent, never ready: ${each.toFixed(2)} ms of processor time for a probe; ${await endOf(agent)}`);
});

for (
  const [name, script] of Object.entries({
    "JSON lines": `exec yes '{"level":"warning","msg":"${"x".repeat(200)}"}' >&2`,
    "one line without an end": "tr '\\0' x < /dev/zero >&2",
  })
) {
  testWhen(needs, `pilot-agent with an Envoy that floods its output: ${name}`, async () => {
    await using pod = await MeshPod.create();
    await using agent = await pilotAgent(pod, script);
    const application = await pod.application();
    await until(async () => (await application.ask("http://127.0.0.1:15020/healthz/ready")).status === 503);
    let [most, answers] = [0, 0];
    const end = performance.now() + 10_000;
    while (performance.now() < end) {
      if ((await application.ask("http://127.0.0.1:15020/healthz/ready")).status === 503) answers++;
      most = Math.max(most, agent.memory());
    }
    agent.signal("SIGTERM");
    printFigure(`pilot-agent, flood of ${name}: ${most} MiB, ${answers} answers in 10 s; ${await endOf(agent)}`);
  });
}

testWhen(needs, `pilot-agent with SIGTERM at ${STARTS} random moments of its start`, async () => {
  const random = randomOf(20_261_123);
  const ends: Record<string, number> = {};
  let longest = 0;
  await using pod = await MeshPod.create();
  for (let round = 0; round < STARTS; round++) {
    await using agent = await pilotAgent(pod);
    await new Promise((resolve) => setTimeout(resolve, random() * LONGEST_START));
    agent.signal("SIGTERM");
    await until(() => agent.hasEnded, "It does not end");
    const { code, milliseconds } = await agent.end;
    longest = Math.max(longest, milliseconds);
    const what = `code ${code}, ${agent.processes().length} processes left`;
    ends[what] = (ends[what] ?? 0) + 1;
  }
  printFigure(`pilot-agent, SIGTERM at its start: ${JSON.stringify(ends)}, longest end ${Math.round(longest)} ms`);
});
