import assert from "node:assert/strict";
import type { ValueMap } from "../../base/value.ts";
import { templatePath, workloadKinds } from "./kinds.ts";
import { notInjected } from "./other_kinds.ts";

const template = { spec: { containers: [{ name: "app", image: "app" }] } };

const PLACES: readonly [string, string, ValueMap, readonly string[]][] = [
  ["apps/v1", "Deployment", {}, ["spec.template"]],
  ["v1", "PodTemplate", {}, ["template"]],
  ["argoproj.io/v1alpha1", "Rollout", {}, ["spec.template"]],
  ["example.test/v1", "Rollout", {}, []],
  ["v1", "Service", {}, []],
  ["serving.knative.dev/v1", "Service", {}, ["spec.template"]],
  ["apps.kruise.io/v1alpha1", "CloneSet", {}, ["spec.template"]],
  [
    "apps.kruise.io/v1alpha1",
    "AdvancedCronJob",
    { template: { broadcastJobTemplate: { spec: { template } } } },
    ["spec.template.broadcastJobTemplate.spec.template"],
  ],
];

for (const [apiVersion, kind, spec, expected] of PLACES) {
  Deno.test(`workloadKinds() of ${kind} of ${apiVersion}`, () => {
    assert.deepEqual(workloadKinds({ apiVersion, kind, spec }).map(({ path }) => path.join(".")), expected);
  });
}

Deno.test("workloadKinds() of a Kruise StatefulSet reads its template alone", () => {
  const typeOf = (apiVersion: string) => workloadKinds({ apiVersion, kind: "StatefulSet" })[0]?.type;
  assert.deepEqual([typeOf("apps/v1"), typeOf("apps.kruise.io/v1beta1")], ["StatefulSet", "PodTemplateSpec"]);
});

Deno.test("templatePath() reads KIND=PATH, and workloadKinds() takes every path of a kind that holds a pod", () => {
  const given = ["Foo=spec.a", "Foo=spec.b", "Foo=spec.c"].map(templatePath).filter((row) => row !== undefined);
  const paths = workloadKinds({ kind: "Foo", spec: { a: template, c: template } }, given).map(({ path }) =>
    path.join(".")
  );
  assert.deepEqual(paths, ["spec.a", "spec.c"]);
  assert.deepEqual(templatePath("Foo=.")?.path, []);
  for (const text of ["Foo", "Foo=", "=spec", "Foo=spec..a", "a=b=c"]) assert.equal(templatePath(text), undefined);
});

const OTHERS: readonly [string, ValueMap, string, RegExp, readonly string[]][] = [
  ["nothing", {}, "no-kind", /^the document has no kind$/, []],
  ["a Service", { apiVersion: "v1", kind: "Service" }, "not-a-workload", /^a Service has no pod$/, []],
  [
    "a lower case",
    { apiVersion: "apps/v1", kind: "deployment" },
    "kind-misspelled",
    /did you mean "Deployment"\?$/,
    [],
  ],
  ["a plural", { apiVersion: "v1", kind: "Pods" }, "kind-misspelled", /did you mean "Pod"\?$/, []],
  ["a typing error", { apiVersion: "apps/v1", kind: "Deploymnet" }, "kind-misspelled", /"Deployment"\?$/, []],
  ["a like name", { apiVersion: "v1", kind: "Node" }, "not-a-workload", /^a Node has no pod$/, []],
  ["a Tekton task", { apiVersion: "tekton.dev/v1", kind: "TaskRun" }, "kind-refused", /Tekton creates its pods/, []],
  [
    "a template in an unknown kind",
    { apiVersion: "a.test/v1", kind: "Foo", spec: { worker: template } },
    "template-unknown-kind",
    /^the kind "Foo" is unknown, but it has a pod template$/,
    ['It has a pod template at "spec.worker", which is not injected; --template-path Foo=spec.worker injects it'],
  ],
  [
    "a template in a list",
    { kind: "Foo", items: [template] },
    "template-unknown-kind",
    /^the kind "Foo"/,
    ['It has a pod template at "items[0]", which is not injected'],
  ],
];

for (const [name, manifest, reason, message, warnings] of OTHERS) {
  Deno.test(`notInjected() of ${name}`, () => {
    const reported = notInjected(manifest);
    assert.deepEqual([reported.reason, reported.warnings], [reason, warnings]);
    assert.match(reported.message, message);
  });
}
