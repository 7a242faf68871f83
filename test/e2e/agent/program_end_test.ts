/** Other containers of the pod end the agent, or wait for its start. */
import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { Pair, POD } from "../iptables/support/pod.ts";
import { Application } from "./support/application.ts";
import { until } from "../../support/until.ts";
import { CAPTURE, MeshPod, missing } from "./support/mesh_pod.ts";
import type { Start } from "./support/program.ts";

function testInPod(name: string, body: (pod: MeshPod) => Promise<void>) {
  testWhen(missing, `agent in a pod: ${name}`, async () => {
    await using pod = await MeshPod.create();
    await body(pod);
  });
}

/** A program in another container of the pod. */
const mesh = ({ namespace }: MeshPod, ...args: string[]) => namespace.mesh(args);

testInPod("wait ends when the proxy is ready, under both names", async (pod) => {
  const waiting = [
    mesh(pod, "wait", "--", "echo", "the application"),
    mesh(pod, "pilot-agent", "wait", "--timeoutSeconds", "120"),
  ];
  const agent = pod.start(["pilot-agent", "proxy", "sidecar"]);
  const [ours, istio] = await Promise.all(waiting);
  assert.deepEqual([ours?.code, ours?.stdout], [0, "the application\n"]);
  assert.equal(istio?.code, 0);
  assert.match(
    istio?.stdout ?? "",
    /Waiting for Envoy proxy to be ready \(timeout: 120 seconds\)[^]*Envoy is ready!\n$/,
  );
  await agent.until("Envoy (epoch 0) is live");
});

testInPod(
  "wait names the stage of a proxy without configuration, and SIGTERM then ends the agent with 143",
  async (pod) => {
    await Deno.remove(`${pod.folder}/xds/cds.json`);
    await Deno.remove(`${pod.folder}/xds/lds.json`);
    await pod.write("override.json", JSON.stringify({ dynamic_resources: {} }));
    const agent = pod.start(["agent"]);
    await agent.until("Envoy (epoch 0) started");
    const { code, stderr } = await mesh(pod, "wait", "--timeout", "1s", "--", "echo", "it ran");
    assert.equal(code, 1);
    assert.match(stderr, /error: The proxy was not ready within 1s: .*config failed: .*is Istiod running/);
    const istio = await mesh(pod, "pilot-agent", "wait", "--timeoutSeconds", "1");
    assert.equal(istio.code, 255);
    assert.match(
      istio.stderr,
      /^Error: Timeout waiting for Envoy proxy to become ready\. Last error: .*config failed: .*is Istiod running/,
    );
    // As the kubelet does after a failed postStart hook, and again to end the drain.
    agent.signal("SIGTERM");
    await agent.until(/SIGTERM: /);
    agent.signalIfThere("SIGTERM");
    assert.equal((await agent.end).code, 143, agent.text);
  },
);

testInPod("wait --shutdown ends the agent after the command, and exits with the command's code", async (pod) => {
  const agent = await pod.startReady();
  const { code, stdout } = await mesh(pod, "wait", "--shutdown", "--", "sh", "-c", "echo work; exit 7");
  assert.deepEqual([code, stdout], [7, "work\n"]);
  assert.equal((await agent.end).code, 0, agent.text);
  assert.match(agent.text, /POST \/quitquitquit: sending SIGTERM to Envoy\n[^]*exited with code 0/);
});

testInPod("agent quit ends the agent", async (pod) => {
  const agent = await pod.startReady();
  assert.deepEqual(await mesh(pod, "agent", "quit"), { code: 0, stdout: "", stderr: "" });
  assert.equal((await agent.end).code, 0, agent.text);
});

/** The environment of a pod whose proxy drains for so long. */
function draining(pod: MeshPod, terminationDrainDuration: string): Partial<Start> {
  const probers = { "/app-health/web/livez": { httpGet: { path: "/healthz", port: 8080 } } };
  const env = {
    ...pod.env({ terminationDrainDuration }),
    ISTIO_KUBE_APP_PROBERS: JSON.stringify(probers),
    ISTIO_PROMETHEUS_ANNOTATIONS: JSON.stringify({ scrape: "true", port: "8080" }),
  };
  return { env };
}

/** A pod with captured traffic, its application, and a neighbour that asks it. */
function testWithClient(name: string, body: (pod: MeshPod, client: Application, app: Application) => Promise<void>) {
  testWhen(missing, `agent in a pod: ${name}`, async () => {
    await using pair = await Pair.create([4]);
    await using pod = await MeshPod.create(pair.pod, POD[4]);
    const { code, stderr } = await pod.namespace.mesh(CAPTURE);
    assert.equal(code, 0, stderr);
    await using client = await Application.start(pair.outside.path);
    await body(pod, client, await pod.application());
  });
}

const URL = `http://${POD[4]}:8080`;

testWithClient(
  "after /drain and SIGTERM requests in flight finish, and 15020 answers all the time",
  async (pod, client, application) => {
    const agent = await pod.startReady(["pilot-agent", "proxy", "sidecar"], draining(pod, "20s"));
    const status = (path: string) => application.ask(`http://127.0.0.1:15020${path}`);
    const long = client.ask(`${URL}/wait`);
    await application.holds(1);
    const hook = await mesh(pod, "pilot-agent", "request", "--debug-port=15020", "POST", "drain");
    assert.deepEqual(hook, { code: 0, stdout: "OK\n", stderr: "" });
    await agent.until("POST /drain: draining");
    await until(async () => (await client.ask(URL)).headers["connection"] === "close");
    for (const signal of [undefined, "SIGTERM"] as const) {
      if (signal !== undefined) agent.signal(signal);
      if (signal !== undefined) await agent.until("SIGTERM: waiting for requests in flight");
      assert.equal((await status("/healthz/ready")).status, 503);
      const probe = await status("/app-health/web/livez");
      assert.deepEqual([probe.status, probe.text], [200, "healthy, 127.0.0.6\n"]);
      const { text } = await status("/stats/prometheus");
      for (const line of [/^istio_agent_/m, /^envoy_server_live/m, /^application_requests 7$/m]) {
        assert.match(
          text,
          line,
        );
      }
    }
    await application.release();
    const { status: code, text } = await long;
    assert.deepEqual([code, text], [200, "waited\n"]);
    assert.equal((await agent.end).code, 0, agent.text);
    assert.match(agent.text, /No requests are left: sending SIGTERM to Envoy/);
  },
);

testWithClient(
  "SIGTERM lets requests finish, a second one aborts the rest",
  async (pod, client, application) => {
    const agent = await pod.startReady(["agent"], { ...draining(pod, "20s"), place: "below PID 1" });
    const first = client.ask(`${URL}/wait`);
    await application.holds(1);
    agent.signal("SIGTERM");
    await agent.until("SIGTERM: draining for 20000 ms");
    await application.release();
    assert.equal((await first).text, "waited\n");
    const second = client.ask(`${URL}/wait`);
    await application.holds(1);
    assert.match((await application.ask("http://127.0.0.1:15020/metrics")).text, /^istio_agent_/m);
    agent.signal("SIGTERM");
    assert.equal((await agent.end).code, 0, agent.text);
    assert.notEqual((await second).status, 200);
  },
);
