/** A control plane that is down, slow, or fails. Traffic continues, and everything recovers. */
import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { startMeshLoad } from "./support/load.ts";
import { Mesh } from "./support/mesh.ts";
import { type MeshedPod, missing } from "./support/pod.ts";
import { askingResources } from "./support/resources.ts";

/** All gRPC statuses except OK. */
const CODES = Array.from({ length: 16 }, (_, index) => index + 1);

testWhen(missing, "mesh: the control plane is down, slow or fails", async (t) => {
  await using mesh = await Mesh.create();
  await mesh.startBoth();
  await using load = startMeshLoad(mesh);
  const { plane } = mesh;

  /** Both proxies and both name tables have a stream. */
  const connected = () =>
    until(async () => (await plane.openStreams("")).length === 4, () => "Not all streams are open again");
  /** A new resource reaches the pod's proxy. */
  const follows = async (pod: MeshedPod, marker: string) => {
    const extra = {
      "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
      name: marker,
      type: "STATIC",
      connect_timeout: "1s",
    };
    await plane.give("a.test", [...askingResources(), extra]);
    const application = await pod.application();
    const clusters = async () => (await application.ask("http://127.0.0.1:15000/clusters")).text;
    await until(async () => (await clusters()).includes(`${marker}::`), () => `No cluster "${marker}" has come`);
  };

  await connected();
  await t.step("it stops and starts", async () => {
    await plane.shut();
    assert.equal((await mesh.ask()).status, 200);
    await plane.reopen();
    await connected();
    await follows(mesh.a, "after-stop");
  });
  await t.step("it is slow", async () => {
    await plane.behave({ xds: { delayMillis: 700 }, nds: { delayMillis: 700 } });
    await plane.shut();
    await plane.reopen();
    await connected();
    await follows(mesh.a, "after-slow");
    await plane.behave({});
  });
  await t.step("it ends streams with each status", async () => {
    // The backoff grows with each failure: a few at a time.
    for (let first = 0; first < CODES.length; first += 4) {
      const codes = CODES.slice(first, first + 4);
      await plane.behave({ xds: { codes }, nds: { codes: codes.slice(0, 2) } });
      await plane.shut();
      await plane.reopen();
      await plane.hasFailed("xds");
      await plane.hasFailed("nds");
      await connected();
    }
    await follows(mesh.a, "after-errors");
  });
  await t.step("metrics have connections and messages", () => checkMetrics(mesh.a));
  await t.step("no request failed", async () => {
    assert.deepEqual(await load.stop(), []);
    assert.ok(load.answered() > 50, `${load.answered()} requests were answered`);
  });
});

async function checkMetrics(pod: MeshedPod): Promise<void> {
  const application = await pod.application();
  const { text } = await application.ask("http://127.0.0.1:15020/metrics");
  const value = (sample: string) => {
    const line = text.split("\n").find((line) => line.startsWith(`istio_agent_${sample} `));
    return Number(line?.split(" ").at(-1) ?? assert.fail(`No ${sample} in ${text}`));
  };
  assert.ok(value('istiod_connection_terminations{type="cancelled"}') > 0);
  assert.ok(value("xds_proxy_requests") > 4);
  assert.ok(value("xds_proxy_responses") > 4);
  assert.equal(value('num_outgoing_requests{request_type="csr"}'), 1);
  assert.ok(value('cert_expiry_seconds{resource_name="default"}') > 60);
  assert.doesNotMatch(text, /num_failed_outgoing_requests/);
}
