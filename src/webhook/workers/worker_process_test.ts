import assert from "node:assert/strict";
import { fakeWorld } from "../../platform/mod.ts";
import { configurationOf, nativeNodes } from "../../inject/mod.ts";
import { messagesOf } from "./frames.ts";
import { encodeFrame } from "./frames.ts";
import { connected } from "../../../test/support/webhook/worker_memory.ts";
import { readReviewed } from "./messages.ts";
import { runWorker } from "./worker_process.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function reviewOf(name: string): string {
  const object = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { containers: [{ name: "app", image: "a" }] },
  };
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid: `uid-${name}`, kind: { kind: "Pod" }, namespace: "shop", operation: "CREATE", object },
  });
}

function configuration(label: string): string {
  const config = JSON.stringify({
    policy: "enabled",
    templates: {
      sidecar: `metadata: {labels: {config: ${label}, uid: "{{ .ProxyUID }}", native: "{{ .NativeSidecars }}"}}`,
    },
  });
  const given = {
    config: { text: config, file: "config" },
    values: { text: "global: {platform: openshift}", file: "values" },
  };
  return JSON.stringify({ ...configurationOf({ ...given, mesh: undefined }), revision: "" });
}

Deno.test("a worker connects with its token, uses the newest inputs, and drops permissions", async () => {
  const [ours, its] = connected();
  const dialed: number[] = [];
  const world = fakeWorld({
    stdin: encodeFrame({ kind: "connect", id: 4000, head: "secret" }),
    dial: ({ port }) => {
      dialed.push(port);
      return its;
    },
  });
  const code = runWorker(world);
  const messages = messagesOf(ours);
  const next = async () => (await messages.next()).value;
  assert.deepEqual((await next())?.head, "secret");
  const send = (message: Parameters<typeof encodeFrame>[0]) => ours.write(encodeFrame(message));
  const patch = async (id: number) => {
    const frame = await next();
    assert.ok(frame !== undefined && frame.id === id);
    const { body, result } = readReviewed(frame);
    assert.equal(result, "injected");
    return atob(
      /"patch":"([^"]*)"/.exec(new TextDecoder().decode(new Uint8Array(body instanceof Uint8Array ? body : [])))?.[1] ??
        "",
    );
  };
  await send({ kind: "configuration", head: configuration("one") });
  assert.equal((await next())?.kind, "ready");
  await send({ kind: "review", id: 7, head: "/inject", body: bytes(reviewOf("a")) });
  assert.match(await patch(7), /"config":"one","uid":"1337","native":"false"/);
  const namespaces = { shop: { "openshift.io/sa.scc.uid-range": "1000/100" } };
  const nodes = nativeNodes([{ metadata: { name: "n" }, status: { nodeInfo: { kubeletVersion: "v1.34.0" } } }]);
  await send({ kind: "cluster", head: JSON.stringify({ proxyConfigs: [], namespaces, nodes }) });
  await send({ kind: "configuration", head: configuration("two") });
  await send({ kind: "review", id: 8, head: "/inject", body: bytes(reviewOf("b")) });
  assert.match(await patch(8), /"config":"two","uid":"1099","native":"true"/);
  await send({ kind: "review", id: 9, head: "/inject", body: bytes("none") });
  assert.equal(readReviewed(await next() ?? assert.fail()).reason, "invalid-review");
  ours.close();
  assert.equal(await code, 0);
  assert.deepEqual([dialed, world.kept.names], [[4000], ["env"]]);
});

Deno.test("a worker that a person starts is an error", async () => {
  await assert.rejects(runWorker(fakeWorld({ stdin: "" })), {
    message: "Only the webhook starts workers",
  });
});
