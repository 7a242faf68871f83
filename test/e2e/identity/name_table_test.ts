/** The name table during the life of a pod: before it arrives, after, and without the control plane. */
import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { Mesh } from "./support/mesh.ts";
import { askName, askNames } from "./support/names_client.ts";
import { both, type Case, FAILED, known, OTHER_TABLE, outsideCases, tableCases } from "./support/names_expected.ts";
import { ADDRESS } from "./support/network.ts";
import { type MeshedPod, missing } from "./support/pod.ts";
import { askingResources, NAME_TABLE } from "./support/resources.ts";

const UNAVAILABLE = 14;
const NAME_TABLE_TYPE = "type.googleapis.com/istio.networking.nds.v1.NameTable";

testWhen(missing, "names: the pod is not ready while the control plane refuses the name table", async () => {
  await using mesh = await Mesh.create({ nds: { codes: Array(50).fill(UNAVAILABLE) } });
  await mesh.a.capture();
  const agent = mesh.a.start();
  const said = await mesh.a.readinessSays(/^\[-\]names failed: .*the test asks for Unavailable/m, agent);
  assert.match(said, /^\[\+\]workers ok: [^]*\nnot ready\n$/m);
  assert.equal((await mesh.a.readiness()).status, 503);
  await answered(mesh.a, both("b.test.svc.cluster.local", "A", FAILED));
  await mesh.plane.behave({});
  await mesh.a.isReady(agent);
  await answered(mesh.a, known("b.test.svc.cluster.local", "A", [ADDRESS.b]));
});

testWhen(missing, "names: the pod is not ready before the name table arrives", async () => {
  await using mesh = await Mesh.create({ nds: { delayMillis: 600_000 } });
  await mesh.a.capture();
  const agent = mesh.a.start();
  await mesh.a.readinessSays(/^\[-\]names failed: the control plane has sent no name table yet$/m, agent);
  assert.equal((await mesh.a.readiness()).status, 503);
  await mesh.plane.behave({});
  await mesh.plane.shut();
  await mesh.plane.reopen();
  await mesh.a.isReady(agent);
});

testWhen(missing, "names: all forms of all names resolve as in the name table, over UDP and TCP", async () => {
  await using mesh = await Mesh.create();
  await mesh.a.capture();
  await mesh.a.startReady();
  const cases = tableCases();
  assert.ok(cases.length > 300, `only ${cases.length} questions`);
  await answered(mesh.a, cases);
  await answered(mesh.a, outsideCases());
  const { status, text } = await askAgent(mesh.a, "/debug/ndsz");
  assert.equal(status, 200);
  assert.deepEqual(JSON.parse(text), { table: NAME_TABLE });
  const streams = (await mesh.plane.openStreams("a.test")).filter(({ asked }) => asked.includes(NAME_TABLE_TYPE));
  assert.deepEqual(streams.map(({ refused, asked }) => [asked, refused]), [[[NAME_TABLE_TYPE], []]]);
});

testWhen(missing, "names: the libc resolver of another user finds names with search domains", async () => {
  await using mesh = await Mesh.create();
  await mesh.a.capture();
  await mesh.a.startReady();
  const found = async (name: string) => {
    const args = ["--reuid=65534", "--regid=65534", "--clear-groups", "getent", "ahostsv4", name];
    const { stdout } = await mesh.a.namespace.run("setpriv", args, { mounts: mesh.a.mounts });
    return [...new Set(stdout.matchAll(/^\S+/gm).map(([address]) => address))].toSorted();
  };
  assert.deepEqual(await found("b"), [ADDRESS.b]);
  assert.deepEqual(await found("web.other"), ["192.0.2.10", "192.0.2.11"]);
  assert.deepEqual(await found("any.wild.org"), ["192.0.2.30"]);
  assert.deepEqual(await found("www.example.com"), ["192.0.2.53"]);
  assert.deepEqual(await found("nobody.org"), []);
});

testWhen(
  missing,
  "names: the last name table stays without the control plane, and the next one replaces it",
  async () => {
    await using mesh = await Mesh.create();
    await mesh.a.capture();
    const agent = await mesh.a.startReady();
    await mesh.plane.shut();
    await agent.until("The name table may be stale");
    await answered(mesh.a, tableCases());
    await give(mesh, OTHER_TABLE);
    await answered(mesh.a, known("outer.org", "A", ["192.0.2.20"]));
    await mesh.plane.reopen();
    await hasOtherTable(mesh);
    // The open stream delivers the table.
    await give(mesh, { "third.org": { ips: ["192.0.2.3"], registry: "External" } });
    await until(async () => (await firstAnswer(mesh.a, "third.org")) === "third.org A 192.0.2.3 30");
  },
);

testWhen(missing, "names: before the first name table every query fails", async () => {
  await using mesh = await Mesh.create();
  await mesh.plane.shut();
  await mesh.a.capture();
  const agent = mesh.a.start();
  await agent.until("No name table yet");
  await answered(mesh.a, [
    ...tableCases().map(({ question, reply }) => ({ question, reply: { ...FAILED, asked: reply.asked } })),
    ...both("www.example.com", "A", FAILED),
  ]);
  assert.equal((await askAgent(mesh.a, "/debug/ndsz")).text.trim(), "{}");
  await mesh.plane.reopen();
  await mesh.a.isReady(agent);
  await answered(mesh.a, [...known("six.org", "AAAA", ["2001:db8::6"]), ...outsideCases()]);
});

/** Sends queries inside the pod and compares the answers. */
async function answered(pod: MeshedPod, cases: readonly Case[]): Promise<void> {
  const replies = await askNames(pod.namespace, cases.map(({ question }) => question));
  assert.deepEqual(cases.map(({ question }, at) => ({ question, reply: replies[at] })), cases);
}

async function askAgent(pod: MeshedPod, path: string) {
  return await (await pod.application()).ask(`http://127.0.0.1:15020${path}`);
}

async function firstAnswer(pod: MeshedPod, name: string): Promise<string | undefined> {
  return (await askName(pod.namespace, { transport: "udp", name, type: "A" })).answers[0];
}

async function give(mesh: Mesh, table: typeof NAME_TABLE): Promise<void> {
  const others = askingResources().filter((each) => !("table" in each));
  await mesh.plane.give("a.test", [...others, { "@type": NAME_TABLE_TYPE, table }]);
}

/** Waits until the second table has replaced the first. */
async function hasOtherTable(mesh: Mesh): Promise<void> {
  await until(async () => (await firstAnswer(mesh.a, "later.org")) !== undefined, () => "The next table never comes");
  await answered(mesh.a, [
    ...known("b.test.svc.cluster.local", "A", ["192.0.2.99"]),
    ...known("B.test", "A", ["192.0.2.99"]),
    ...known("later.org", "AAAA", ["2001:db8::7"]),
    ...both("outer.org", "A", { ...FAILED, rcode: "NXDOMAIN" }),
    ...both("web.other.svc.cluster.local", "A", { ...FAILED, rcode: "NXDOMAIN" }),
  ]);
  assert.deepEqual(JSON.parse((await askAgent(mesh.a, "/debug/ndsz")).text), { table: OTHER_TABLE });
}
