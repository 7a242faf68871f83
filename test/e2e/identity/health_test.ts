/** Health checks of a workload without a kubelet: the agent reports to the control plane on Envoy's stream. */
import assert from "node:assert/strict";
import { realEnvoy } from "../../support/programs/envoy.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { Mesh } from "./support/mesh.ts";
import { missing } from "./support/pod.ts";

testWhen(missing, "health reports: each change is sent, and the last one again after a reconnect", async () => {
  await using mesh = await Mesh.create();
  const { plane, b } = mesh;
  await b.capture();
  const { path: binaryPath } = await realEnvoy();
  const readinessProbe = { periodSeconds: 1, httpGet: { path: "/health", port: 8080 } };
  const application = await b.application();
  const agent = await b.startReady(["agent"], {
    env: { PROXY_CONFIG: JSON.stringify({ binaryPath, concurrency: 1, readinessProbe }) },
  });
  /** The last report of the open stream, `undefined` before the first. */
  const last = async () => (await plane.openStreams("b.test")).flatMap(({ health }) => health.slice(-1))[0];
  const reports = (expected: string) =>
    until(async () => await last() === expected, () => `Never reported "${expected}":\n${agent.text}`);

  await reports("");
  await application.ask("http://127.0.0.1:8080/sick");
  await reports("the application answered 500");
  await plane.shut();
  await until(async () => (await plane.openStreams("b.test")).length === 0);
  await plane.reopen();
  await reports("the application answered 500");
  await application.ask("http://127.0.0.1:8080/well");
  await reports("");
  agent.signal("SIGTERM");
  await reports("server is terminated: the proxy is draining");
  const streams = (await plane.seen()).streams.filter(({ health }) => health.length > 0);
  assert.ok(streams.length >= 2, "The reports came on one stream");
  for (const { asked } of streams) assert.ok(asked.some((type) => type.endsWith(".Listener")), asked.join());
});
