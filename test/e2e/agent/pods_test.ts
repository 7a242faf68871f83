/** Two pods, each with the agent, a real Envoy, captured traffic and an application. */
import assert from "node:assert/strict";
import type { RealEnvoy } from "../../support/programs/envoy.ts";
import { envoysOfRun } from "../../support/programs/envoys.ts";
import { testWhen } from "../../support/test_when.ts";
import { OUTSIDE, Pair, POD } from "../iptables/support/pod.ts";
import { CAPTURE, MeshPod, missing } from "./support/mesh_pod.ts";

const PROBERS = {
  "/app-health/web/livez": { httpGet: { path: "/healthz", port: 8080 }, timeoutSeconds: 5 },
  "/app-health/web/readyz": { tcpSocket: { port: 8080 }, timeoutSeconds: 5 },
  "/app-health/web/startupz": { httpGet: { path: "/absent", port: 8080 }, timeoutSeconds: 5 },
};

const ENV = {
  ISTIO_DUAL_STACK: "true",
  ISTIO_KUBE_APP_PROBERS: JSON.stringify(PROBERS),
  ISTIO_PROMETHEUS_ANNOTATIONS: JSON.stringify({ scrape: "true", path: "/metrics", port: "8080" }),
};

/** The number of requests through each Envoy, outbound and inbound. */
async function passed(...pods: readonly MeshPod[]) {
  const counts = pods.map(async (pod) => {
    const stats = await pod.stats("^http\\.(inbound|outbound)\\.downstream_rq_total$");
    return [stats.get("http.outbound.downstream_rq_total"), stats.get("http.inbound.downstream_rq_total")];
  });
  return await Promise.all(counts);
}

for (const envoy of await envoysOfRun()) {
  testWhen(
    missing ?? envoy.missing,
    `two pods with Envoy ${envoy.version}: requests pass both proxies; probes and metrics bypass the capture`,
    (t) => twoPods(t, envoy),
  );
}

async function twoPods(t: Deno.TestContext, envoy: RealEnvoy): Promise<void> {
  await using pair = await Pair.create();
  await using client = await MeshPod.create(pair.outside, OUTSIDE[4]);
  await using server = await MeshPod.create(pair.pod, POD[4]);
  for (const { namespace } of [client, server]) {
    const { code, stderr } = await namespace.mesh(CAPTURE);
    assert.equal(code, 0, stderr);
  }
  const [asking, serving] = await Promise.all([client.application(), server.application()]);
  const agents = await Promise.all(
    [client, server].map((pod) =>
      pod.startReady(["agent"], { env: { ...pod.env({ binaryPath: envoy.path }), ...ENV } })
    ),
  );

  await t.step("a request passes both proxies", async () => {
    const reply = await asking.ask(`http://${POD[4]}:8080/`);
    assert.deepEqual([reply.status, reply.text], [200, "from 127.0.0.6\n"]);
    assert.deepEqual(await passed(client, server), [[1, 0], [0, 1]]);
  });
  await t.step("a request over IPv6 passes both proxies", async () => {
    const reply = await asking.ask(`http://[${POD[6]}]:8080/`);
    assert.deepEqual([reply.status, reply.text], [200, "from ::6\n"]);
    assert.deepEqual(await passed(client, server), [[2, 0], [0, 2]]);
  });
  await t.step("both are ready, on the agent's port and through Envoy", async () => {
    for (const port of [15020, 15021]) {
      assert.equal((await serving.ask(`http://127.0.0.1:${port}/healthz/ready`)).status, 200);
      assert.equal((await asking.ask(`http://${POD[4]}:${port}/healthz/ready`)).status, 200);
    }
  });
  await t.step("probes bypass the proxy", async () => {
    const before = await passed(server);
    const probe = (name: string) => serving.ask(`http://127.0.0.1:15020/app-health/web/${name}`);
    const live = await probe("livez");
    assert.deepEqual([live.status, live.text], [200, "healthy, 127.0.0.6\n"]);
    assert.equal((await probe("readyz")).status, 200);
    assert.equal((await probe("startupz")).status, 404);
    assert.equal((await probe("nothing")).status, 400);
    assert.deepEqual(await passed(server), before);
  });
  await t.step("one answer holds the metrics of agent, Envoy and application", async () => {
    const { status, text } = await serving.ask("http://127.0.0.1:15020/stats/prometheus");
    assert.equal(status, 200);
    for (
      const line of [/^istio_agent_scrapes_total \d/m, /^envoy_server_live\{\} 1$/m, /^application_requests 7$/m]
    ) {
      assert.match(text, line);
    }
    const order = ["istio_agent_", "\nenvoy_", "\napplication_requests "].map((name) => text.indexOf(name));
    assert.deepEqual(order, order.toSorted((a, b) => a - b));
  });
  await t.step("both end", async () => {
    for (const agent of agents) agent.signal("SIGQUIT");
    for (const agent of agents) assert.equal((await agent.end).code, 0, agent.text);
  });
}
