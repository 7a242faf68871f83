import assert from "node:assert/strict";
import type { ValueMap } from "../../core/value.ts";
import { changePod, decisionFix, labelNamespace, makeAgain, makeNamedAgain, shellWord } from "./commands.ts";
import type { LivePod } from "../inventory/live_pods.ts";
import { type Target, targetOf } from "./target.ts";

function target(kind: string, metadata: ValueMap = {}, file?: string): Target {
  const found = targetOf({ apiVersion: "v1", kind, metadata: { name: "web", ...metadata } }, "shop", file);
  assert(found !== undefined);
  return found;
}

const CHANGE = { of: "labels", key: "a", value: "b" } as const;
const MADE: ValueMap = {
  generateName: "web-5d4-",
  labels: { "pod-template-hash": "5d4" },
  ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5d4", controller: true }],
};
const LIVE: readonly LivePod[] = [
  { pod: "web-1", phase: "Running", hasProxy: false, isNative: false, revision: null, image: null, isReady: false },
];

Deno.test("a CronJob's pod is changed in its template", () => {
  const patch = '{"spec":{"jobTemplate":{"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}}}}';
  assert.equal(changePod(target("CronJob"), CHANGE), `kubectl patch cronjob/web -n shop --type=merge -p '${patch}'`);
});

Deno.test("a Job is deleted and created again: its template is immutable", () => {
  assert.equal(
    changePod(target("Job"), CHANGE),
    "kubectl delete job/web -n shop, and create it again with a=b in spec.template.metadata.labels: " +
      "the template of a Job is immutable",
  );
  assert.match(decisionFix("pod-host-network", target("Job"))[0] ?? "", /^kubectl delete job\/web -n shop, and create/);
});

Deno.test("a pod without a controller is replaced in one line, a controller's pod is not changed", () => {
  assert.equal(
    changePod(target("Pod"), CHANGE),
    "kubectl get pod/web -n shop -o yaml | kubectl label --local --overwrite -f - -o yaml a=b | kubectl replace --force -f -",
  );
  assert.equal(changePod(target("Pod", MADE), CHANGE), "kubectl mesh check injection deployment/web -n shop");
});

Deno.test("a manifest is changed by its author", () => {
  assert.equal(
    changePod(target("Job", {}, "web.yaml"), { ...CHANGE, value: null }),
    'remove "a" from spec.template.metadata.labels in web.yaml',
  );
});

Deno.test("each kind has its way to recreate pods, a CronJob none", () => {
  const again = (kind: string, metadata: ValueMap = {}) => makeAgain(target(kind, metadata), LIVE);
  assert.deepEqual(again("StatefulSet"), ["kubectl rollout restart statefulset/web -n shop"]);
  assert.deepEqual(again("ReplicaSet"), ["kubectl delete pod -n shop web-1"]);
  assert.deepEqual(again("Pod", MADE), ["kubectl delete pod -n shop web-1"]);
  assert.deepEqual(again("Pod"), ["kubectl get pod/web -n shop -o yaml | kubectl replace --force -f -"]);
  assert.deepEqual(again("CronJob"), []);
  assert.deepEqual(makeAgain(target("Deployment"), []), []);
});

Deno.test("a workload known by name is restarted by the command for its kind", () => {
  const again = (kind: string) => makeNamedAgain({ kind, namespace: "shop", name: "web" });
  assert.equal(again("daemonset"), "recreate them: kubectl rollout restart daemonset/web -n shop");
  assert.equal(again("pod"), "recreate them: kubectl get pod/web -n shop -o yaml | kubectl replace --force -f -");
  assert.equal(again("rollout"), 'delete the pods of rollout/web in the namespace "shop": new ones are created');
});

Deno.test("arguments are quoted for a shell", () => {
  assert.equal(shellWord("a; rm 'b'"), `'a; rm '\\''b'\\'''`);
  assert.equal(labelNamespace("shop", { a: undefined, b: "$(c)" }), "kubectl label namespace shop a- 'b=$(c)'");
});
