import assert from "node:assert/strict";
import { MemoryApi } from "../../../test/support/kube/memory_api.ts";
import { ApiError } from "../../kube/client/mod.ts";
import { startLog } from "../../platform/log.ts";
import { realWorld } from "../../platform/mod.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { watchCluster } from "./cluster_snapshot.ts";

const CONFIGS = "/apis/networking.istio.io/v1beta1/proxyconfigs";

function proxyConfig(spec: object) {
  const metadata = { name: "all", namespace: "web" };
  return { apiVersion: "networking.istio.io/v1beta1", kind: "ProxyConfig", metadata, spec };
}

function namespace(name: string, annotations: Record<string, string>) {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, annotations, managedFields: [{}] } };
}

async function opened(api: MemoryApi, asksNodes = true) {
  const world = fakeWorld();
  const snapshot = await watchCluster({ api, log: startLog(world, "webhook"), clock: realWorld().clock, asksNodes });
  return { snapshot, said: () => world.said.stderr };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}

Deno.test("the state is known before the first review, and follows changes", async () => {
  const api = new MemoryApi();
  api.put("/api/v1/namespaces/web", namespace("web", { a: "1" }));
  const { snapshot } = await opened(api);
  assert.deepEqual(snapshot.namespace?.("web")?.metadata["annotations"], { a: "1" });
  assert.equal(snapshot.namespace?.("web")?.metadata["managedFields"], undefined);
  api.put("/api/v1/namespaces/web", namespace("web", { a: "2" }));
  await settled();
  assert.deepEqual(snapshot.namespace?.("web")?.metadata["annotations"], { a: "2" });
  await api.remove("/api/v1/namespaces/web");
  await settled();
  assert.equal(snapshot.namespace?.("web"), undefined);
  snapshot.close();
});

Deno.test("ProxyConfigs are parsed only after a change, and an invalid one is logged", async () => {
  const api = new MemoryApi();
  const { snapshot, said } = await opened(api);
  const before = snapshot.proxyConfigs;
  assert.equal(snapshot.proxyConfigs, before);
  api.put(`${CONFIGS}/all`, proxyConfig({ concurrency: "many" }));
  await settled();
  assert.notEqual(snapshot.proxyConfigs, before);
  assert.match(said(), /Ignoring the ProxyConfig "web\/all"/);
  snapshot.close();
});

Deno.test("a cluster without ProxyConfigs is no error; a failed watch is logged once", async () => {
  const api = new MemoryApi();
  const { snapshot, said } = await opened(api);
  api.interrupt(new ApiError("There is no such type", { status: 404 }));
  assert.equal(said(), "");
  api.interrupt(new ApiError("It is away"));
  api.interrupt(new ApiError("It is away"));
  assert.equal(said().match(/using the last known ones: It is away/g)?.length, 3, "once for each collection");
  snapshot.close();
});

Deno.test("nodes count once they are known, and are a new object only after a change of a version", async () => {
  const api = new MemoryApi();
  const { snapshot } = await opened(api);
  assert.equal(JSON.stringify(snapshot.nodes), `{"byName":{},"all":true}`);
  const node = (kubeletVersion: string, conditions: readonly object[]) =>
    api.put("/api/v1/nodes/a", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "a" },
      status: { conditions, nodeInfo: { kubeletVersion } },
    });
  node("v1.33.0", [{}]);
  await settled();
  const before = snapshot.nodes;
  assert.equal(JSON.stringify(before), `{"byName":{"a":true},"all":true}`);
  node("v1.33.0", [{}, {}]);
  await settled();
  assert.equal(snapshot.nodes, before);
  node("v1.32.9", []);
  await settled();
  assert.equal(JSON.stringify(snapshot.nodes), `{"byName":{"a":false},"all":false}`);
  snapshot.close();
});

Deno.test("nodes that are not watched, or whose watch fails, are unknown", async () => {
  const without = await opened(new MemoryApi(), false);
  assert.equal(without.snapshot.nodes, undefined);
  without.snapshot.close();
  const api = new MemoryApi();
  const watch = api.watch.bind(api);
  api.watch = (path, query, signal, options = {}) => {
    if (path !== "/api/v1/nodes") return watch(path, query, signal, options);
    return watch(path, query, signal, { ...options, synced: () => options.failed?.(new ApiError("It is forbidden")) });
  };
  const { snapshot, said } = await opened(api);
  assert.equal(snapshot.nodes, undefined);
  assert.match(said(), /Cannot watch the nodes/);
  snapshot.close();
});
