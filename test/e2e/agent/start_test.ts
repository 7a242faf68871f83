/** Failed and degraded starts of the program: messages and exit codes. */
import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { MeshPod, missing } from "./support/mesh_pod.ts";
import type { Start } from "./support/program.ts";

function testStart(name: string, body: (pod: MeshPod) => Promise<void>) {
  testWhen(missing, `start of the agent: ${name}`, async () => {
    await using pod = await MeshPod.create();
    await body(pod);
  });
}

/** Runs the agent to its end. Returns the exit code, the error and the lines about Envoy's end. */
async function endOf(pod: MeshPod, env: Record<string, string> = {}, start: Partial<Start> = {}, argv = ["agent"]) {
  const { code, stdout, stderr } = await pod.start(argv, { ...start, env }).end;
  const errors = stderr.split("\n").filter((line) => /^error: /i.test(line));
  return { code, stdout, stderr, errors };
}

testStart("a missing Envoy is named, before anything is written", async (pod) => {
  const entries = async () => (await Array.fromAsync(Deno.readDir(pod.folder), ({ name }) => name)).toSorted();
  const before = await entries();
  const { code, errors } = await endOf(pod, pod.env({ binaryPath: "/no/such/envoy" }));
  assert.equal(code, 1);
  const hint =
    "this command is for a pod with Envoy; --binaryPath, or binaryPath of ProxyConfig, names the Envoy binary";
  assert.deepEqual(errors, [`error: Cannot start "/no/such/envoy": program not found; ${hint}`]);
  assert.deepEqual(await entries(), before);
});

testStart("a bootstrap that Envoy rejects: its message and its exit code", async (pod) => {
  await pod.write("override.json", JSON.stringify({ admin: { address: { pipe: { path: 7 } } } }));
  const { code, stderr, errors } = await endOf(pod);
  assert.equal(code, 1);
  assert.match(stderr, /Envoy \(epoch 0\) exited with code 1\n$/);
  assert.deepEqual(errors, []);
  await pod.write("strange.json", "{}");
  const custom = await endOf(pod, pod.env({ customConfigFile: "./absent.json" }));
  assert.equal(custom.code, 1);
  assert.deepEqual(custom.errors, ['error: The custom configuration file "./absent.json" does not exist']);
});

testStart("the agent exits with Envoy's code, as PID 1 and below, under both names", async (pod) => {
  const cases = [["exit 42", 42], ["exit 0", 0], ["kill -ABRT $$", 134], ["kill -KILL $$", 137]] as const;
  for (const [line, code] of cases) {
    await pod.write("envoy.sh", `#!/bin/sh\n${line}\n`);
    await Deno.chmod(`${pod.folder}/envoy.sh`, 0o755);
    const env = pod.env({ binaryPath: "./envoy.sh" });
    const starts = [
      endOf(pod, env, { place: "as PID 1" }, ["pilot-agent", "proxy", "sidecar"]),
      endOf(pod, env, { place: "below PID 1" }),
    ];
    for (const ended of await Promise.all(starts)) assert.equal(ended.code, code, ended.stderr);
  }
});

testStart("a port 15020 in use is reported, and the proxy works without the status server", async (pod) => {
  await using listener = new Deno.Command("nsenter", {
    args: [`--net=${pod.namespace.path}`, "python3", "-c", LISTEN],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const reader = listener.stdout.getReader();
  await reader.read();
  const agent = pod.start(["agent"]);
  await agent.until("Envoy (epoch 0) is live");
  await agent.until(/error agent.status: .*15020.*in use/);
  agent.signal("SIGQUIT");
  assert.equal((await agent.end).code, 0, agent.text);
  await listener.stdin.close();
  await reader.cancel();
});

const LISTEN = `
import socket, sys
listener = socket.create_server(("", 15020))
print("listening", flush=True)
sys.stdin.read()
`;

testStart("with status port 0 there is no status server, and Envoy runs", async (pod) => {
  await Deno.mkdir(`${pod.folder}/etc/istio/pod`);
  await pod.write("etc/istio/pod/annotations", 'status.sidecar.istio.io/port="0"\n');
  const agent = pod.start(["agent"]);
  await agent.until("Envoy (epoch 0) is live");
  const application = await pod.application();
  assert.equal((await application.ask("http://127.0.0.1:15000/ready")).status, 200);
  assert.equal((await application.ask("http://127.0.0.1:15020/healthz/ready")).status, 0);
  agent.signal("SIGQUIT");
  assert.equal((await agent.end).code, 0, agent.text);
});

testStart("with DISABLE_ENVOY it is ready without Envoy, and ends on SIGTERM", async (pod) => {
  const agent = pod.start(["agent"], { env: { DISABLE_ENVOY: "true" } });
  await agent.until("Opening status port 15020");
  const application = await pod.application();
  assert.equal((await application.ask("http://127.0.0.1:15020/healthz/ready")).status, 200);
  agent.signal("SIGTERM");
  assert.equal((await agent.end).code, 0, agent.text);
  assert.doesNotMatch(agent.text, /epoch/);
});

/** Mounts the root file system read-only, as with readOnlyRootFilesystem. */
const READ_ONLY = "mount --make-rprivate /; mount -o remount,bind,ro /";

testStart("on a read-only root file system configPath must be an emptyDir", async (pod) => {
  const refused = await endOf(pod, {}, {
    mounts: `mount --bind "$PWD" "$PWD"; mount -o remount,bind,ro "$PWD"; cd "$PWD"; ${READ_ONLY}`,
  });
  assert.equal(refused.code, 1);
  assert.equal(refused.errors.length, 1, refused.stderr);
  assert.match(refused.errors[0] ?? "", /^error: Cannot write "\.?\/?etc\/istio\/proxy\/.*": .*[Rr]ead-only/);
  const emptyDir = `mount -t tmpfs -o mode=755,uid=1337 tmpfs etc/istio/proxy; ${READ_ONLY}`;
  const agent = await pod.startReady(["agent"], { mounts: emptyDir });
  agent.signal("SIGQUIT");
  assert.equal((await agent.end).code, 0, agent.text);
});

testStart("a configPath of another user is an error", async (pod) => {
  await Deno.chown(`${pod.folder}/etc/istio/proxy`, 0, 0);
  const { code, errors, stderr } = await endOf(pod);
  assert.equal(code, 1);
  assert.equal(errors.length, 1, stderr);
  assert.match(errors[0] ?? "", /^error: Cannot write ".*etc\/istio\/proxy.*": .*ermission denied/);
});

testStart("as root, and as a user without a name", async (pod) => {
  for (const uid of [0, 54_321]) {
    await Deno.chown(`${pod.folder}/etc/istio/proxy`, uid, uid);
    const agent = await pod.startReady(["agent"], { uid });
    const { uid: owner, mode } = await Deno.stat(`${pod.folder}/etc/istio/proxy/envoy-rev.json`);
    assert.deepEqual([owner, (mode ?? 0) & 0o777], [uid, 0o600]);
    agent.signal("SIGQUIT");
    assert.equal((await agent.end).code, 0, agent.text);
  }
});
