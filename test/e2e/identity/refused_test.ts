/** Readiness with a rejected listener and without a control plane; a killed agent. */
import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { Mesh } from "./support/mesh.ts";
import { missing } from "./support/pod.ts";
import { askingResources, REFUSED } from "./support/resources.ts";

testWhen(missing, "mesh: readiness names the listener that Envoy rejects, with the reason", async () => {
  await using mesh = await Mesh.create();
  const { a, plane } = mesh;
  const clusters = askingResources().filter((each) => !JSON.stringify(each).includes("config.listener.v3.Listener"));
  await plane.give("a.test", [...clusters, REFUSED]);
  await a.capture();
  const agent = a.start();
  const said = await a.readinessSays(/lds updates: 0 successful, [1-9]\d* rejected/, agent);
  assert.match(said, /listener "refused": [^\n]*no filter chains/);
  assert.equal((await a.readiness()).status, 503);
  const refused = (await plane.seen()).streams.flatMap((stream) => stream.refused.map(({ type }) => type));
  assert.ok(refused.some((type) => type.endsWith("Listener")), refused.join());
  await plane.give("a.test", askingResources());
  await a.isReady(agent);
});

testWhen(
  missing,
  "mesh: a proxy stays ready without its control plane; a new agent starts after a killed one",
  async () => {
    await using mesh = await Mesh.create();
    const { a, plane } = mesh;
    await a.capture();
    const first = await a.startReady();
    await plane.shut();
    assert.equal((await a.readiness()).status, 200);
    await plane.reopen();
    await until(async () => (await plane.openStreams("a.test")).length === 2, () => "The streams are not open again");
    first.signal("SIGKILL");
    await first.end;
    const second = await a.startReady();
    assert.match(second.text, /The certificate of \S+ is in force/);
  },
);
