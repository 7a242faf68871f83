/** An Envoy that misbehaves: it floods its output, never gets ready, or crashes in a loop. */
import assert from "node:assert/strict";
import { isLong, printFigure } from "../../support/long.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { MeshPod, missing } from "../agent/support/mesh_pod.ts";
import { AgentProcess, type AgentStart } from "./support/agent_process.ts";

function testInPod(name: string, body: (pod: MeshPod) => Promise<void>) {
  testWhen(missing, `the agent with an Envoy that ${name}`, async () => {
    await using pod = await MeshPod.create();
    await body(pod);
  });
}

/** Starts the agent with a shell script in place of Envoy: the real one does none of this on request. */
async function standIn(pod: MeshPod, script: string, start: AgentStart = {}): Promise<AgentProcess> {
  await pod.write("envoy.sh", `#!/bin/sh\n${script}\n`);
  await Deno.chmod(`${pod.folder}/envoy.sh`, 0o755);
  return new AgentProcess(pod, { ...start, env: { ...pod.env({ binaryPath: "./envoy.sh" }), ...start.env } });
}

/** MiB that Envoy prints. */
const FLOOD = isLong() ? 512 : 64;
/** MiB that the agent's memory may grow. */
const MORE_MEMORY = 48;

/** Kinds of output. The last one is a single endless line. */
const FLOODS = {
  "JSON lines": `exec yes '{"level":"warning","msg":"${"x".repeat(200)}"}' >&2`,
  "plain lines": `exec yes '[2026-01-01 00:00:00.000][1][warning][main] [a.cc:1] ${"x".repeat(200)}' >&2`,
  "one line without an end": "tr '\\0' x < /dev/zero >&2",
};

for (const [name, script] of Object.entries(FLOODS)) {
  testInPod(`floods its output with ${name}: bounded memory, and the agent answers`, async (pod) => {
    await using agent = await standIn(pod, script, { argv: ["agent", "--log-format", "json"], errors: "/dev/null" });
    await until(() => written(agent) > 1 << 20, "Envoy's output never came");
    const before = agent.memory();
    const application = await pod.application();
    let [most, answers] = [0, 0];
    await until(async () => {
      const { status } = await application.ask("http://127.0.0.1:15020/healthz/ready");
      assert.equal(status, 503);
      answers++;
      most = Math.max(most, agent.memory());
      return written(agent) > FLOOD * 2 ** 20;
    });
    assert.ok(most < before + MORE_MEMORY, `${before} MiB before, ${most} MiB at most`);
    agent.signal("SIGTERM");
    const { code, milliseconds } = await agent.end;
    assert.equal(code, 143);
    assert.deepEqual(agent.processes(), []);
    printFigure(
      `flood of ${name}: ${FLOOD} MiB, ${before} to ${most} MiB, ${answers} answers, end in ${milliseconds.toFixed()} ms`,
    );
  });
}

/** Bytes that the agent has written (proc_pid_io(5)). */
function written({ pid }: AgentProcess): number {
  return Number(/^wchar: (\d+)$/m.exec(Deno.readTextFileSync(`/proc/${pid}/io`))?.[1]);
}

testInPod("floods an output that nobody reads: the agent ends as soon as somebody reads", async (pod) => {
  await Deno.mkdir(`${pod.folder}/pipe`);
  const fifo = `${pod.folder}/pipe/stderr`;
  await new Deno.Command("mkfifo", { args: ["-m", "666", fifo] }).output();
  await using agent = await standIn(pod, FLOODS["JSON lines"], {
    argv: ["agent", "--log-format", "json"],
    errors: fifo,
  });
  using reader = await Deno.open(fifo);
  const buffer = new Uint8Array(65536);
  await reader.read(buffer);
  const full = written(agent);
  await until(() => written(agent) > full, "It never wrote on");
  agent.signal("SIGTERM");
  const read = (async () => {
    while (await reader.read(buffer) !== null);
  })();
  assert.equal((await agent.end).code, 143);
  await read;
  assert.deepEqual(agent.processes(), []);
});

testInPod("never gets ready: readiness says why, and SIGTERM ends both", async (pod) => {
  await using agent = await standIn(pod, "trap 'exit 0' TERM; while :; do sleep 0.05; done");
  await agent.until("Envoy (epoch 0) started");
  const application = await pod.application();
  const before = agent.processorTime();
  const asked = isLong() ? 2000 : 50;
  for (let n = 0; n < asked; n++) {
    const { status, text } = await application.ask("http://127.0.0.1:15020/healthz/ready");
    assert.equal(status, 503, text);
  }
  const each = (agent.processorTime() - before) / asked;
  agent.signal("SIGTERM");
  const { code, milliseconds } = await agent.end;
  assert.equal(code, 143, agent.text);
  assert.deepEqual(agent.processes(), []);
  printFigure(
    `never ready: ${asked} probes, ${each.toFixed(1)} ms of processor time each, end in ${milliseconds.toFixed()} ms`,
  );
});

testInPod("crashes in a loop: restarts back off, and nothing leaks", async (pod) => {
  await using agent = await standIn(pod, "echo crash >&2; kill -SEGV $$", {
    argv: ["agent", "--restart", "on-failure"],
  });
  if (!isLong()) {
    // All restarts together take two minutes.
    await agent.until("Restarting Envoy in 3200 ms");
    agent.signal("SIGTERM");
  }
  const { code } = await agent.end;
  assert.equal(code, isLong() ? 139 : 143, agent.text);
  if (isLong()) assert.match(agent.text, /has failed \d+ consecutive times: giving up/);
  const delays = [...agent.text.matchAll(/Restarting Envoy in (\d+) ms/g)].map(([, delay]) => Number(delay));
  assert.deepEqual(delays.slice(0, 5), [200, 400, 800, 1600, 3200], agent.text);
  assert.equal(
    agent.text.split("\n").filter((line) => line === "crash").length,
    isLong() ? delays.length + 1 : delays.length,
  );
  assert.deepEqual(agent.processes(), []);
  assert.deepEqual(await Array.fromAsync(Deno.readDir(`${pod.folder}/etc/istio/proxy`)), []);
  printFigure(`crash loop: ${delays.length} restarts after ${delays.join(", ")} ms`);
});

testInPod("was live and crashes repeatedly: open files and memory do not grow", async (pod) => {
  await using agent = new AgentProcess(pod, { argv: ["agent", "--restart", "on-failure"] });
  // Delays double. The delay before the tenth start is 51 s; a test does not wait longer.
  const rounds = isLong() ? 9 : 3;
  const seen: [files: number, memory: number][] = [];
  for (let round = 0; round < rounds; round++) {
    await until(() => agent.text.split("is live\n").length > round + 1, "Envoy was never live again");
    // No pause here: a pause resets the agent's count of consecutive failures.
    seen.push([openFiles(agent), agent.memory()]);
    const envoy = Number([...agent.text.matchAll(/started with PID (\d+)/g)].at(-1)?.[1]);
    Deno.kill(envoy, "SIGSEGV");
    await until(() => agent.text.split("was terminated by SIGSEGV").length > round + 1 || agent.hasEnded);
    if (agent.hasEnded) break;
  }
  const [first, last] = [seen[0], seen.at(-1)];
  assert.ok(first !== undefined && last !== undefined);
  // The agent keeps an Envoy's xDS connection for a minute while it waits for a certificate, even after that Envoy
  // ended.
  await until(() => openFiles(agent) <= first[0] + 2, () => `open files: ${seen.map(([files]) => files)}`);
  assert.ok(last[1] <= first[1] + MORE_MEMORY, `MiB: ${seen.map(([, memory]) => memory)}`);
  agent.signal("SIGQUIT");
  await agent.end;
  assert.deepEqual(agent.processes(), []);
  printFigure(
    `real Envoy, ${seen.length} crashes: open files ${first[0]} to ${last[0]}, ${first[1]} to ${last[1]} MiB`,
  );
});

function openFiles({ pid }: AgentProcess): number {
  return [...Deno.readDirSync(`/proc/${pid}/fd`)].length;
}
