/** The program as the first process of a container: signals, orphans and exit codes. */
import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { MeshPod, missing } from "./support/mesh_pod.ts";
import type { Program } from "./support/program.ts";
import { until } from "../../support/until.ts";

function testAsFirst(name: string, body: (pod: MeshPod) => Promise<void>) {
  testWhen(missing, `agent as PID 1: ${name}`, async () => {
    await using pod = await MeshPod.create();
    await body(pod);
  });
}

testAsFirst("a signal right after the handlers are set ends it", async (pod) => {
  for (const [argv, signal, expected] of STARTS) {
    const agent = pod.start(argv);
    await agent.handlesSignals();
    agent.signal(signal);
    const { code, stdout, stderr } = await agent.end;
    assert.deepEqual([code, stdout], [expected, ""], stderr);
    assert.match(stderr, new RegExp(` info agent: ${signal}: `));
  }
});

const STARTS = [
  [["agent"], "SIGTERM", 143],
  [["pilot-agent", "proxy", "sidecar"], "SIGTERM", 143],
  [["agent"], "SIGINT", 130],
  [["agent"], "SIGQUIT", 0],
] as const;

testAsFirst(
  "SIGTERM at any time during the start ends it, with 143 before Envoy is live, and leaves no files",
  async (pod) => {
    for (const milliseconds of [0, 20, 40, 60, 80, 100, 130, 160, 200, 300]) {
      const agent = pod.start(["agent"]);
      await agent.handlesSignals();
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      agent.signal("SIGTERM");
      // The second signal ends a drain.
      await agent.until(/SIGTERM: /);
      agent.signalIfThere("SIGTERM");
      const wasLive = /is live\n[^]*SIGTERM: /.test(agent.text);
      assert.equal((await agent.end).code, wasLive ? 0 : 143, agent.text);
      assert.deepEqual(await Array.fromAsync(Deno.readDir(`${pod.folder}/etc/istio/proxy`)), [], agent.text);
    }
  },
);

testAsFirst("orphans are reaped while a real Envoy runs; Envoy's end gives the exit code", async (pod) => {
  const agent = await pod.startReady();
  const script = "for i in 1 2 3 4 5 6 7 8; do (sh -c 'sleep 0.1; exit 3' &) ; done";
  const inside = ["--target", String(agent.pid()), "--pid", "--mount", "sh", "-c", script];
  const { success } = await new Deno.Command("nsenter", { args: inside }).output();
  assert.ok(success);
  await until(() => endedChildren(agent) > 0);
  await until(() => endedChildren(agent) === 0);
  Deno.kill(envoyOf(agent), "SIGSEGV");
  assert.equal((await agent.end).code, 139, agent.text);
  assert.match(agent.text, /Envoy \(epoch 0\) was terminated by SIGSEGV \(exit code 139\)/);
});

/** The states of the children of a process. */
function* childrenOf(parent: number) {
  for (const { name } of Deno.readDirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? statOf(name) : undefined;
    if (stat?.parent === parent) yield { ...stat, pid: Number(name) };
  }
}

function statOf(pid: string) {
  try {
    const [, state, parent] = /\) (\S) (\d+) /.exec(Deno.readTextFileSync(`/proc/${pid}/stat`)) ?? [];
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

function endedChildren(agent: Program): number {
  return [...childrenOf(agent.pid())].filter(({ state }) => state === "Z").length;
}

/** The running child. */
function envoyOf(agent: Program): number {
  const envoy = [...childrenOf(agent.pid())].find(({ state }) => state !== "Z");
  if (envoy === undefined) throw new Error(`There is no Envoy:\n${agent.text}`);
  return envoy.pid;
}
