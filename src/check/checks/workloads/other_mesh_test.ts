import assert from "node:assert/strict";
import { object } from "../../../../test/support/kube/cluster.ts";
import { isPod } from "../../../kube/client/mod.ts";
import { podOwner } from "../../../inject/mod.ts";
import { otherMesh } from "./other_mesh.ts";

/** The advice for a pod with this sidecar, made by a controller of this kind. */
function advised(container: string, kind: string) {
  const ownerReferences = kind === "Pod" ? [] : [{ apiVersion: "apps/v1", kind, name: "web", controller: true }];
  const pod = object("v1", "Pod", "shop/web-1", {
    metadata: { ownerReferences, generateName: "web-" },
    spec: { containers: [{ name: "istio-proxy" }, { name: container }] },
  });
  assert(isPod(pod));
  const decision = { value: undefined };
  const owner = podOwner(pod, "shop");
  const found = otherMesh({ pod, owner, hasProxy: true, webhook: { value: undefined }, plane: undefined, decision });
  return found?.advice?.map(({ change, risk, steps }) => [change, risk, ...steps.map(({ command }) => command)]);
}

const BY_HAND = ["remove the other mesh's sidecar from its manifest, if the manifest contains it", "none"];

const SWITCHES = [
  ["linkerd-proxy", "Linkerd", '"annotations":{"linkerd.io/inject":"disabled"}'],
  ["kuma-sidecar", "Kuma", '"labels":{"kuma.io/sidecar-injection":"disabled"}'],
  ["consul-dataplane", "Consul", '"annotations":{"consul.hashicorp.com/connect-inject":"false"}'],
] as const;

for (const [container, mesh, change] of SWITCHES) {
  Deno.test(`a pod leaves ${mesh}, or this mesh`, () => {
    const patch = (of: string) =>
      `kubectl patch statefulset/web -n shop --type=merge -p '{"spec":{"template":{"metadata":{${of}}}}}'`;
    assert.deepEqual(advised(container, "StatefulSet"), [
      BY_HAND,
      [`turn off injection by ${mesh} for its pods`, "takes-out", patch(change)],
      ["keep it out of this mesh", "takes-out", patch('"labels":{"sidecar.istio.io/inject":"false"}')],
    ]);
  });
}

Deno.test("a pod without a controller keeps the other mesh's container, whatever it is labelled", () => {
  assert.deepEqual(advised("linkerd-proxy", "Pod")?.map(([change]) => change), [
    BY_HAND[0],
    "keep it out of this mesh",
  ]);
});
