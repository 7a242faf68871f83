import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { meter } from "../../base/metrics/mod.ts";
import type { KubeApi, KubeObject, WatchEvent } from "../../kube/client/mod.ts";
import { startLog } from "../../platform/log.ts";
import { repairPods } from "./repair.ts";

const UID = "6f0c1c1e-0000-4000-8000-0000000000aa";

const BROKEN: KubeObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web-0", namespace: "shop", uid: UID, annotations: { "sidecar.istio.io/status": "{}" } },
  spec: { initContainers: [{ name: "istio-validation" }], containers: [{ name: "istio-proxy" }] },
  status: { initContainerStatuses: [{ name: "istio-validation", state: { terminated: { exitCode: 126 } } }] },
};

/** The requests that change something, for one broken pod. */
async function changesOf(mode: "label" | "delete"): Promise<unknown[]> {
  const changes: unknown[] = [];
  const written = Promise.withResolvers<void>();
  const unused = () => Promise.reject(new Error("not asked"));
  async function* watch(): AsyncGenerator<WatchEvent> {
    yield { type: "ADDED", object: BROKEN };
    await written.promise;
  }
  const api: KubeApi = {
    server: "https://api.test",
    ...{ get: unused, list: unused, replace: unused },
    watch,
    patch: (path, type, body) => {
      changes.push([path, type, body]);
      return Promise.resolve(BROKEN);
    },
    remove: (path, uid) => {
      changes.push([path, uid]);
      return Promise.resolve(true);
    },
    create: () => {
      written.resolve();
      return Promise.resolve(BROKEN);
    },
  };
  const world = fakeWorld();
  const context = { world, log: startLog(world, "test"), api, repairs: meter("counter", "repairs", "Repairs.") };
  const options = { mode, node: "node-1", hostProc: "/proc", nativeNftables: false, label: "broken=true" };
  await repairPods(context, options, new AbortController().signal);
  return changes;
}

Deno.test("a new pod with the same name is neither labelled nor deleted, because the requests contain the UID", async () => {
  const path = "/api/v1/namespaces/shop/pods/web-0";
  assert.deepEqual(await changesOf("label"), [
    [`${path}/status`, "merge", { metadata: { uid: UID, labels: { broken: "true" } } }],
  ]);
  assert.deepEqual(await changesOf("delete"), [[path, UID]]);
});
