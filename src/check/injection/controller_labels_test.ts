import assert from "node:assert/strict";
import { labelsOf } from "../../inject/mod.ts";
import { podOf, targetOf } from "./target.ts";

const template = { metadata: { labels: { app: "web" } }, spec: { containers: [] } };

/** The label keys of the pods of a manifest. */
function keysOf(apiVersion: string, kind: string, spec: object): readonly string[] {
  const manifest = { apiVersion, kind, metadata: { name: "web" }, spec: JSON.parse(JSON.stringify(spec)) };
  const target = targetOf(manifest, "shop", undefined);
  assert(target !== undefined);
  return Object.keys(labelsOf(podOf(target))).sort();
}

const JOB = [
  "app",
  "batch.kubernetes.io/controller-uid",
  "batch.kubernetes.io/job-name",
  "controller-uid",
  "job-name",
];

const KINDS: readonly (readonly [apiVersion: string, kind: string, spec: object, keys: readonly string[]])[] = [
  ["apps/v1", "Deployment", { template }, ["app", "pod-template-hash"]],
  ["apps/v1", "StatefulSet", { template }, [
    "app",
    "apps.kubernetes.io/pod-index",
    "controller-revision-hash",
    "statefulset.kubernetes.io/pod-name",
  ]],
  ["apps/v1", "DaemonSet", { template }, ["app", "controller-revision-hash", "pod-template-generation"]],
  ["batch/v1", "Job", { template }, JOB],
  ["batch/v1", "CronJob", { jobTemplate: { spec: { template } } }, JOB],
  ["apps/v1", "ReplicaSet", { template }, ["app"]],
];

for (const [apiVersion, kind, spec, keys] of KINDS) {
  Deno.test(`podOf(): the pod of a ${kind} has the labels of its controller`, () => {
    assert.deepEqual(keysOf(apiVersion, kind, spec), [...keys].sort());
  });
}

Deno.test("podOf(): a label of the template wins", () => {
  const own = { metadata: { labels: { "job-name": "mine" } }, spec: { containers: [] } };
  const manifest = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "web" }, spec: { template: own } };
  const target = targetOf(manifest, "shop", undefined);
  assert(target !== undefined);
  assert.equal(labelsOf(podOf(target))["job-name"], "mine");
});
