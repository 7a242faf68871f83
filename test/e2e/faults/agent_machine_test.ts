/** The agent without free file descriptors, processes or disk space: its log says so, and it continues where it can. */
import assert from "node:assert/strict";
import { isLong, printFigure } from "../../support/long.ts";
import { MESH_BINARY } from "../../support/programs/mesh.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { MeshPod, missing } from "../agent/support/mesh_pod.ts";
import { AgentProcess, type AgentStart } from "./support/agent_process.ts";

const needs = missing ?? needsProgram("prlimit");

function testInPod(name: string, body: (pod: MeshPod) => Promise<void>) {
  testWhen(needs, `the agent on a machine with ${name}`, async () => {
    await using pod = await MeshPod.create();
    await body(pod);
  });
}

/** Starts the agent, and stops it when Envoy is live. The agent may end earlier by itself. */
async function startOf(pod: MeshPod, start: AgentStart) {
  await using agent = new AgentProcess(pod, start);
  await until(() => agent.hasEnded || agent.text.includes("is live\n"), () => `It hangs:\n${agent.text}`);
  const isLive = !agent.hasEnded;
  agent.signal("SIGQUIT");
  const { code } = await agent.end;
  assert.deepEqual(agent.processes(), [], agent.text);
  assert.deepEqual(await Array.fromAsync(Deno.readDir(`${pod.folder}/etc/istio/proxy`)), [], agent.text);
  return { isLive, code, text: agent.text };
}

/** Below these limits Deno itself cannot start, and prints its own error. */
const FEWEST = { nofile: 18, nproc: 6 } as const;

const LIMITS = {
  nofile: {
    words: /too many open files/i,
    long: [20, 24, 28, 32, 40, 48, 64],
    // Far from 32 or 33, where starts begin to succeed. From source, Deno alone needs about 26 to load.
    short: MESH_BINARY !== undefined ? [20, 64] : [28, 64],
  },
  nproc: {
    words: /cannot start another process or thread|resource temporarily unavailable|create a thread/i,
    long: [],
    short: [64],
  },
} as const;

testInPod("few open files: every start works, or ends with an error that names open files", async (pod) => {
  const { words, long, short } = LIMITS.nofile;
  let [live, refused] = [0, 0];
  for (const limit of isLong() ? long : short) {
    const { isLive, code, text } = await startOf(pod, { before: ["prlimit", `--nofile=${limit}`] });
    if (isLive) live++;
    else refused++;
    assert.equal(isLive, code === 0, text);
    if (isLive || /Envoy .* started/.test(text)) {
      assert.match(text, new RegExp(`warning agent: The limit of open files is ${limit}`));
    }
    if (isLive) continue;
    assert.match(text, /^error: |Envoy \(epoch 0\) (exited|was terminated)/m, `${limit}`);
    if (limit > FEWEST.nofile) assert.match(text, words, `${limit}`);
    assert.doesNotMatch(text, /please report it/, `${limit}`);
  }
  assert.ok(live > 0 && refused > 0);
  printFigure(
    `limits of open files from ${long[0]} to ${long.at(-1)}: ${live} starts are live, ${refused} end with an error`,
  );
});

testInPod("no free process id: the error names the limit", async (pod) => {
  const uid = 54_399;
  await Deno.chown(`${pod.folder}/etc/istio/proxy`, uid, uid);
  let [live, named] = [0, 0];
  for (const limit of Array.from({ length: 32 }, (_, at) => at + 2)) {
    if (live > 1 && !isLong()) break;
    const { isLive, code, text } = await startOf(pod, { uid, before: ["prlimit", `--nproc=${limit}`] });
    assert.equal(isLive, code === 0, text);
    if (isLive) live++;
    if (/^error: Cannot start .*: the system cannot start another process or thread; raise the limit/m.test(text)) {
      named++;
    }
    if (limit >= FEWEST.nproc && !isLive) assert.match(text, LIMITS.nproc.words, `${limit}`);
  }
  assert.ok(live > 0);
  printFigure(`limits of processes from 2 to 33: ${live} starts are live, ${named} name the limit`);
});

testInPod("no free file descriptor while it runs: it continues, and answers later", async (pod) => {
  await using agent = new AgentProcess(pod, { before: ["prlimit", "--nofile=64"] });
  await agent.until("is live\n");
  const application = await pod.application();
  for (let round = 0; round < (isLong() ? 20 : 2); round++) {
    const held = new Deno.Command("nsenter", {
      args: [`--net=${pod.namespace.path}`, "python3", "-c", HOLD],
      stdin: "piped",
      stdout: "null",
    }).spawn();
    await until(() =>
      agent.text.split("Cannot accept connections on status port 15020: Too many open files").length > round + 1
    );
    await held.stdin.close();
    await held.status;
    await until(async () => (await application.ask("http://127.0.0.1:15020/healthz/ready")).status === 200);
  }
  agent.signal("SIGQUIT");
  assert.equal((await agent.end).code, 0, agent.text);
  assert.deepEqual(agent.processes(), []);
});

/** Holds as many connections to the status port as it gets, until its input ends. */
const HOLD = `
import socket, sys
held = []
for _ in range(200):
    try:
        held.append(socket.create_connection(("127.0.0.1", 15020), timeout=1))
    except OSError:
        break
sys.stdin.read()
`;

const FULL =
  'mount -t tmpfs -o size=16k,mode=777 tmpfs etc/istio/proxy; dd if=/dev/zero of=etc/istio/proxy/full bs=1k count=64 2>/dev/null || true; cd "$PWD"';

testInPod("a full disk at the start: the error names the file and the reason", async (pod) => {
  await using agent = new AgentProcess(pod, { prepare: FULL });
  const { code } = await agent.end;
  assert.equal(code, 1, agent.text);
  assert.match(agent.text, /^error: Cannot write ".*envoy-rev\.json": no space left on device/m);
  assert.deepEqual(agent.processes(), []);
});

testInPod("a full disk under its log: it serves and ends as usual", async (pod) => {
  const prepare = 'mkdir -p log; mount -t tmpfs -o size=4k,mode=777 tmpfs log; cd "$PWD"';
  await using agent = new AgentProcess(pod, { argv: ["agent", "--log-format", "json"], prepare, errors: "log/stderr" });
  const application = await pod.application();
  await until(async () => (await application.ask("http://127.0.0.1:15020/healthz/ready")).status === 200);
  agent.signal("SIGQUIT");
  assert.equal((await agent.end).code, 0);
  assert.deepEqual(agent.processes(), []);
});
