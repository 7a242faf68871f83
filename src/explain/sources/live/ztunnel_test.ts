import assert from "node:assert/strict";
import { ApiError, type Pod } from "../../../kube/client/mod.ts";
import { Ztunnels } from "./ztunnel.ts";

const REDIRECTED = { "ambient.istio.io/redirection": "enabled" };

function pod(annotations: Record<string, string> = REDIRECTED): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "shop", annotations },
    spec: { nodeName: "node-1", containers: [] },
  };
}

const ZTUNNEL = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "ztunnel-1", namespace: "istio-system" },
  spec: { containers: [] },
  status: { phase: "Running" },
};

function ztunnels(found: readonly typeof ZTUNNEL[], answer: () => Uint8Array) {
  const asked: unknown[] = [];
  const api = {
    list: (path: string, query: object = {}) => {
      asked.push([path, query]);
      return Promise.resolve({ items: found, resourceVersion: "1" });
    },
    getFromPort: (request: object) => {
      asked.push(request);
      return Promise.resolve().then(answer);
    },
  };
  return { reader: new Ztunnels(api, 1000), asked };
}

Deno.test("the ztunnel of the node is asked once for all its pods, and only for pods in ambient mode", async () => {
  const { reader, asked } = ztunnels([ZTUNNEL], () => new TextEncoder().encode("{}"));
  assert.equal(await reader.partOf(pod({})), undefined);
  assert.deepEqual(await Promise.all([reader.partOf(pod()), reader.partOf(pod())]), [{ text: "{}" }, { text: "{}" }]);
  assert.deepEqual(asked, [
    ["/api/v1/pods", { labelSelector: "app=ztunnel", fieldSelector: "spec.nodeName=node-1" }],
    {
      namespace: "istio-system",
      pod: "ztunnel-1",
      port: 15000,
      path: "/config_dump",
      timeout: 1000,
      maxBytes: 64 * 1024 * 1024,
    },
  ]);
});

Deno.test("no ztunnel, no right, no answer: the part says why", async () => {
  const refuse = (status?: number) => () => {
    throw new ApiError("no", status === undefined ? {} : { status });
  };
  const ends = [
    [ztunnels([], () => new Uint8Array()), "gone"],
    [ztunnels([ZTUNNEL], refuse(403)), "forbidden"],
    [ztunnels([ZTUNNEL], refuse()), "no-answer"],
  ] as const;
  for (const [{ reader }, absent] of ends) assert.equal((await reader.partOf(pod()))?.absent, absent);
});

Deno.test("a pod of another namespace with the label of ztunnel does not answer for the mesh", async () => {
  const other = { ...ZTUNNEL, metadata: { name: "fake", namespace: "another" } };
  const { reader, asked } = ztunnels([other, ZTUNNEL], () => new TextEncoder().encode("{}"));
  const part = await reader.partOf(pod());
  assert.match(part?.message ?? "", /several namespaces have the label app=ztunnel on "node-1": another, istio-system/);
  assert.equal(asked.length, 1);
});
