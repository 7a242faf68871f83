import assert from "node:assert/strict";
import type { ValueMap } from "../../base/value.ts";
import { earlierOwner, podOwner } from "./workload.ts";

function controlled(by: ValueMap, labels: ValueMap = {}): ValueMap {
  return { metadata: { name: "p", generateName: "p-", labels, ownerReferences: [{ ...by, controller: true }] } };
}

const ROWS: readonly [string, ValueMap, string][] = [
  ["a bare pod is its own", { metadata: { name: "p" } }, "v1 Pod p"],
  [
    "a ReplicaSet of a Deployment",
    controlled({ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-abc" }, { "pod-template-hash": "abc" }),
    "apps/v1 Deployment web",
  ],
  [
    "a ReplicaSet by itself",
    controlled({ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web" }, { "pod-template-hash": "abc" }),
    "apps/v1 ReplicaSet web",
  ],
  [
    "a Rollout",
    controlled({ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-x1" }, { "rollouts-pod-template-hash": "x1" }),
    "v1alpha1 Rollout web",
  ],
  [
    "a Job of a CronJob",
    controlled({ apiVersion: "batch/v1", kind: "Job", name: "tidy-27012345" }),
    "batch/v1 CronJob tidy",
  ],
  ["a Job", controlled({ apiVersion: "batch/v1", kind: "Job", name: "tidy-1" }), "batch/v1 Job tidy-1"],
  [
    "a DeploymentConfig",
    controlled({ apiVersion: "v1", kind: "ReplicationController", name: "d-1" }, { deploymentconfig: "d" }),
    "v1 DeploymentConfig d",
  ],
];

for (const [name, pod, expected] of ROWS) {
  Deno.test(`podOwner: ${name}`, () => {
    const owner = podOwner(pod, "");
    assert.equal(`${owner.apiVersion} ${owner.kind} ${owner.name}`, expected);
  });
}

Deno.test("earlierOwner: as releases before 1.22 guess it", () => {
  const rollout = controlled({ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-x1" }, {
    "rollouts-pod-template-hash": "x1",
  });
  const job = controlled({ apiVersion: "batch/v1", kind: "Job", name: "tidy-27012345" });
  const owners = [rollout, job, { metadata: { name: "p" } }].map((pod) => earlierOwner(podOwner(pod, ""), pod));
  assert.deepEqual(owners.map(({ apiVersion, kind, name }) => `${apiVersion} ${kind} ${name}`), [
    "apps/v1 ReplicaSet web-x1",
    "batch/v1beta1 CronJob tidy",
    "v1 Pod p",
  ]);
});
