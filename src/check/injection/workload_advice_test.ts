import assert from "node:assert/strict";
import type { ValueMap } from "../../base/value.ts";
import type { Advice } from "../advice/advice.ts";
import type { LivePod } from "../inventory/live_pods.ts";
import { type Target, targetOf } from "./target.ts";
import { changePod, ownNetwork, recreate, recreated } from "./workload_advice.ts";

function target(kind: string, metadata: ValueMap = {}, file?: string): Target {
  const found = targetOf({ apiVersion: "v1", kind, metadata: { name: "web", ...metadata } }, "shop", file);
  assert(found !== undefined);
  return found;
}

const commands = ({ steps }: Advice) => steps.map(({ command }) => command);

const CHANGE = { of: "labels", key: "a", value: "b" } as const;
const MADE: ValueMap = {
  generateName: "web-5d4-",
  labels: { "pod-template-hash": "5d4" },
  ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5d4", controller: true }],
};
const LIVE: readonly LivePod[] = [
  { pod: "web-1", phase: "Running", proxy: false, native: false, ready: false, revision: null, image: null },
];

Deno.test("a CronJob's pod is changed in its template", () => {
  const patch = '{"spec":{"jobTemplate":{"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}}}}';
  assert.deepEqual(commands(changePod(target("CronJob"), CHANGE)), [
    `kubectl patch cronjob/web -n shop --type=merge -p '${patch}'`,
  ]);
});

Deno.test("a Job is deleted and created again: its template is immutable", () => {
  const { change, steps: [step] } = changePod(target("Job"), CHANGE);
  assert.match(change, /delete the Job and create it again, because its template is immutable/);
  assert.match(
    step?.command ?? "",
    /^kubectl get job\/web -n shop -o yaml \| kubectl patch --local .* \| kubectl replace --force -f -$/,
  );
  assert.match(step?.command ?? "", /"selector":null.*"controller-uid":null.*"a":"b"|"a":"b".*"controller-uid":null/);
  assert.deepEqual(step?.needs.map(({ verb, resource }) => `${verb} ${resource}`), [
    "get jobs",
    "delete jobs",
    "create jobs",
  ]);
  assert.match(ownNetwork(target("Job")).steps[0]?.command ?? "", /"hostNetwork":null/);
});

Deno.test("a pod without a controller is replaced by one command; a controller's pod is not changed", () => {
  assert.deepEqual(commands(changePod(target("Pod"), CHANGE)), [
    "kubectl get pod/web -n shop -o yaml | kubectl patch --local -f - -o yaml --type=merge -p " +
    `'{"metadata":{"labels":{"a":"b"}}}' | kubectl replace --force -f -`,
  ]);
  const made = changePod(target("Pod", MADE), CHANGE);
  assert.deepEqual(commands(made), ["kubectl mesh check injection deployment/web -n shop"]);
  assert.equal(made.reach, "nothing");
});

Deno.test("advice about a file has no command", () => {
  const { change, steps } = changePod(target("Job", {}, "web.yaml"), { ...CHANGE, value: null });
  assert.deepEqual([change, steps], ['remove "a" from spec.template.metadata.labels in web.yaml', []]);
});

Deno.test("each kind has a command to recreate its pods, except CronJob and Job", () => {
  const again = (kind: string, metadata: ValueMap = {}) => recreate(target(kind, metadata), LIVE).flatMap(commands);
  assert.deepEqual(again("StatefulSet"), ["kubectl rollout restart statefulset/web -n shop"]);
  assert.deepEqual(again("ReplicaSet"), ["kubectl delete pod/web-1 -n shop"]);
  assert.deepEqual(again("Pod", MADE), ["kubectl delete pod/web-1 -n shop"]);
  assert.deepEqual(again("Pod"), ["kubectl get pod/web -n shop -o yaml | kubectl replace --force -f -"]);
  assert.deepEqual([again("CronJob"), again("Job")], [[], []]);
  assert.deepEqual(recreate(target("Deployment"), []), []);
});

Deno.test("a workload known by name is restarted by the command for its kind", () => {
  const again = (kind: string) => recreated({ kind, namespace: "shop", name: "web" });
  assert.deepEqual(commands(again("daemonset")), ["kubectl rollout restart daemonset/web -n shop"]);
  assert.deepEqual(commands(again("pod")), ["kubectl get pod/web -n shop -o yaml | kubectl replace --force -f -"]);
  assert.equal(again("rollout").change, "delete the pods of rollout/web, which are then recreated");
});
