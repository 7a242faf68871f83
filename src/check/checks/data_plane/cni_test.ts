import assert from "node:assert/strict";
import { clusterInventory } from "../../../../test/support/kube/cluster.ts";
import { findingFor } from "../../../../test/support/kube/finding.ts";
import type { KubeObject } from "../../../kube/client/mod.ts";
import type { ValueMap } from "../../../base/value.ts";

function pod(name: string, nodeName: string, spec: ValueMap, status: ValueMap = {}): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "shop" },
    spec: { ...nodeName === "" ? {} : { nodeName }, ...spec },
    status: { phase: "Running", ...status },
  };
}

const captured = (name: string, node: string) =>
  pod(name, node, { initContainers: [{ name: "istio-validation" }], containers: [{ name: "istio-proxy" }] });

const installer = (node: string, state: ValueMap) =>
  pod(`mesh-cni-node-${node}`, node, { containers: [{ name: "install-cni" }] }, {
    containerStatuses: [{ name: "install-cni", ...state }],
  });

const READY = { ready: true, state: { running: {} } };

const CASES: readonly (readonly [what: string, pods: readonly KubeObject[], expected: string])[] = [
  ["a plugin on each node", [captured("a", "n1"), installer("n1", READY), installer("n2", READY)], "ok "],
  ["no captured pod", [installer("n1", { ready: false })], "skipped no scheduled pod is captured by the CNI plugin"],
  ["a pod that has no node yet", [captured("a", "")], "skipped no scheduled pod is captured by the CNI plugin"],
  [
    "a node without the plugin",
    [captured("a", "n1"), captured("b", "n2"), captured("c", "n2"), installer("n1", READY)],
    "error node/n2: no CNI plugin is installed, but 2 pods on this node need it",
  ],
  [
    "an installer that is not ready",
    [captured("a", "n1"), installer("n1", { ready: false, state: { running: {} } })],
    "error pod/shop/mesh-cni-node-n1: install-cni runs but is not ready: the plugin is not in the network configuration of n1",
  ],
  [
    "an installer that crashes",
    [
      captured("a", "n1"),
      installer("n1", {
        ...{ ready: false, state: { waiting: { reason: "CrashLoopBackOff" } } },
        lastState: { terminated: { exitCode: 1, reason: "Error" } },
      }),
    ],
    "error pod/shop/mesh-cni-node-n1: install-cni waits: CrashLoopBackOff, it ended with 1: " +
    "the plugin is not in the network configuration of n1",
  ],
];

for (const [what, objects, expected] of CASES) {
  Deno.test(`cni-plugin: ${what}`, async () => {
    const { result, message = "" } = await findingFor("cni-plugin", clusterInventory({ objects: [...objects] }));
    assert.equal(`${result} ${message}`, expected);
  });
}

Deno.test("cni-plugin: the pods of one namespace do not show the plugin", async () => {
  const inventory = clusterInventory({ objects: [captured("a", "n1")] }, { namespace: "shop" });
  const { result, message = "" } = await findingFor("cni-plugin", inventory);
  assert.equal(result, "unknown");
  assert.match(message, /namespaces that are not checked/);
});
