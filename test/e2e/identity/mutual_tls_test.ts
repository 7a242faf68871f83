/** Mutual TLS between two pods with certificates of the control plane. */
import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { Application } from "../agent/support/application.ts";
import { until } from "../../support/until.ts";
import { Mesh } from "./support/mesh.ts";
import { missing } from "./support/pod.ts";
import { askingResources, spiffe } from "./support/resources.ts";

testWhen(
  missing,
  "mutual TLS: the application sees the client's identity, the control plane the proxy's certificate",
  async () => {
    await using mesh = await Mesh.create();
    await mesh.startBoth();
    const { status, text } = await mesh.ask();
    assert.equal(status, 200, text);
    assert.match(text, new RegExp(`"x-forwarded-client-cert":"[^"]*URI=${spiffe("a")}"`));
    // The stream with a token is the agent's, for the name table.
    const streams = await mesh.plane.openStreams("a.test");
    const ofEnvoy = streams.filter(({ token }) => token === "").map(({ identity, plain }) => [identity, plain]);
    assert.deepEqual(ofEnvoy, [[spiffe("a"), false]]);
    const { ca } = await mesh.plane.seen();
    assert.deepEqual(ca.map(({ identity, code }) => [identity, code]).toSorted(), [[spiffe("a"), "OK"], [
      spiffe("b"),
      "OK",
    ]]);
    assert.deepEqual(ca.find(({ identity }) => identity === spiffe("a"))?.uris, [spiffe("a")]);
  },
);

testWhen(
  missing,
  "mutual TLS: plain text and a peer with another identity are rejected",
  async () => {
    await using mesh = await Mesh.create();
    // `b` accepts only its own identity.
    await mesh.plane.give("b.test", askingResources());
    await mesh.startBoth();
    await using outside = await Application.start(mesh.network.plane.path);
    const plain = await outside.ask(`http://${mesh.b.address}:8080/`);
    assert.equal(plain.status, 0, `Plain text got an answer: ${plain.text}`);
    const stranger = await mesh.ask();
    assert.equal(stranger.status, 503, `A stranger got an answer: ${stranger.text}`);
    await mesh.plane.accept({ "token-of-a": spiffe("a"), "token-of-b": spiffe("b") });
  },
);

testWhen(
  missing,
  "mutual TLS: an Envoy after a crash or a hot restart gets its certificate",
  async () => {
    await using mesh = await Mesh.create();
    await mesh.b.capture();
    await mesh.b.application();
    await mesh.b.startReady();
    await mesh.a.capture();
    await mesh.a.application();
    // Envoy's shared memory is named after the base ID: tests of other users may use another one.
    const a = await mesh.a.startReady(["agent", "--restart", "on-failure", "--watch", "--base-id", "197"]);
    const [envoy = 0] = await childrenOf(a.pid());
    Deno.kill(envoy, "SIGKILL");
    await a.until("Envoy (epoch 0) was terminated by SIGKILL");
    await until(async () => (await mesh.ask()).status === 200, () => `The new Envoy never asks:\n${a.text}`);
    a.signal("SIGHUP");
    await a.until(/Envoy \(epoch \d\) is live[^]*Envoy \(epoch \d\) is live/);
    await mesh.a.isReady(a);
    const { status, text } = await mesh.ask();
    assert.equal(status, 200, text);
  },
);

/** The processes that a process has started. Source: proc_tid_children(5). */
async function childrenOf(pid: number): Promise<readonly number[]> {
  const tasks = await Array.fromAsync(Deno.readDir(`/proc/${pid}/task`));
  const texts = await Promise.all(tasks.map(({ name }) => Deno.readTextFile(`/proc/${pid}/task/${name}/children`)));
  return texts.flatMap((text) => text.split(" ").filter((part) => part !== "").map(Number));
}

testWhen(
  missing,
  "mutual TLS: with --xds direct Envoy connects to the control plane itself, as the workload",
  async () => {
    await using mesh = await Mesh.create();
    await mesh.startBoth({}, ["agent", "--xds", "direct"]);
    const { status, text } = await mesh.ask();
    assert.equal(status, 200, text);
    const streams = await mesh.plane.openStreams("a.test");
    const ofEnvoy = streams.filter(({ token }) => token === "").map(({ identity, plain }) => [identity, plain]);
    assert.deepEqual(ofEnvoy, [[spiffe("a"), false]]);
    const sockets = await Array.fromAsync(Deno.readDir(`${mesh.a.folder}/etc/istio/proxy`));
    assert.deepEqual(sockets.filter(({ name }) => name === "XDS"), []);
  },
);
