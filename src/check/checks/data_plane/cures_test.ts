import assert from "node:assert/strict";
import { object } from "../../../../test/support/kube/cluster.ts";
import { isPod } from "../../../kube/client/mod.ts";
import type { ValueMap } from "../../../base/value.ts";
import type { Advice } from "../../advice/advice.ts";
import { smallerRequests, withoutOwnControlPlane, withoutOwnImage } from "./cures.ts";

function podOf(annotations: ValueMap = {}) {
  const ownerReferences = [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "web", controller: true }];
  const pod = object("v1", "Pod", "shop/web-1", { metadata: { ownerReferences, generateName: "web-", annotations } });
  assert(isPod(pod));
  return pod;
}

/** Returns the annotations in the patch of the only advice. */
function patched(all: readonly Advice[]): unknown {
  assert.equal(all.length, 1);
  const [command = ""] = all[0]?.steps.map((step) => step.command) ?? [];
  const [, patch = ""] = /^kubectl patch statefulset\/web -n shop --type=merge -p '(.*)'$/s.exec(command) ?? [];
  return JSON.parse(patch).spec.template.metadata.annotations;
}

const CPU = "0/3 nodes are available: 3 Insufficient cpu.";
const PROXY = { resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "2" } } };

Deno.test("a proxy that fits on no node requests less of what the scheduler lacks, and keeps its other resources", () => {
  assert.deepEqual(patched(smallerRequests(podOf(), PROXY, CPU)), {
    "sidecar.istio.io/proxyCPU": "10m",
    "sidecar.istio.io/proxyMemory": "128Mi",
    "sidecar.istio.io/proxyCPULimit": "2",
  });
  const [both] = smallerRequests(podOf(), PROXY, `${CPU} 1 Insufficient memory.`);
  assert.equal(both?.change, "lower the proxy's requests to cpu 10m and memory 40Mi, as in Istio's demo profile");
});

Deno.test("a proxy that requests little, or is not to blame, keeps its requests", () => {
  assert.deepEqual(smallerRequests(podOf(), { resources: { requests: { cpu: "10m" } } }, CPU), []);
  assert.deepEqual(smallerRequests(podOf(), {}, CPU), []);
  assert.deepEqual(smallerRequests(podOf(), PROXY, "0/3 nodes are available: 3 node(s) had untolerated taint"), []);
});

Deno.test("an image of the pod's own annotation is taken away", () => {
  const key = "sidecar.istio.io/proxyImage";
  assert.deepEqual(patched(withoutOwnImage(podOf({ [key]: "hub/proxy:gone" }))), { [key]: null });
  assert.deepEqual(withoutOwnImage(podOf()), []);
});

const CONFIG = "proxy.istio.io/config";

const OWN_CONFIGS: readonly (readonly [config: string, left: string | null])[] = [
  ["discoveryAddress: istiod.gone.svc:15012\n", null],
  ['{"discoveryAddress": "istiod.gone.svc:15012"}', null],
  ["concurrency: 1\ndiscoveryAddress: istiod.gone.svc:15012\n", "concurrency: 1\n"],
];

for (const [config, left] of OWN_CONFIGS) {
  Deno.test(`removing the pod's discovery address is a guess, and keeps other settings: ${config.trim()}`, () => {
    const advice = withoutOwnControlPlane(podOf({ [CONFIG]: config }));
    assert.deepEqual(patched(advice), { [CONFIG]: left });
    assert.equal(advice[0]?.isGuess, true);
  });
}

Deno.test("a pod without its own discovery address gets no advice", () => {
  for (const config of ["concurrency: 1", "", "- a", "a: [", "discoveryAddress: 1"]) {
    assert.deepEqual(withoutOwnControlPlane(podOf({ [CONFIG]: config })), []);
  }
});
