import assert from "node:assert/strict";
import type { Value, ValueMap } from "../../base/value.ts";
import {
  admitted,
  jsonBytes,
  patchOf,
  responseOf,
  reviewBytes,
  webhookInjector,
} from "../../../test/support/kube/review.ts";
import { reviewPod } from "./review_pod.ts";

const INJECT = "sidecar.istio.io/inject";

/** A configuration with settable policy, selectors and other fields. */
function config(more = "", policy = "enabled"): string {
  const template = "spec: {containers: [{name: istio-proxy, image: proxy}]}";
  return `policy: ${policy}\ntemplates:\n  sidecar: |\n    ${template}\n  other: |\n    spec: {containers: [{name: other, image: o}]}\n${more}`;
}

const plain = webhookInjector(config());

function pod(metadata: ValueMap = {}, spec: ValueMap = {}): ValueMap {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", ...metadata },
    spec: { containers: [{ name: "app", image: "nginx" }], ...spec },
  };
}

const labelled = (value: string) => pod({ labels: { [INJECT]: value, app: "a" } });
const annotated = (value: string) => pod({ annotations: { [INJECT]: value }, labels: { app: "a" } });
const never = "neverInjectSelector: [{matchLabels: {app: a}}]";
const always = "alwaysInjectSelector: [{matchExpressions: [{key: app, operator: Exists}]}]";

interface Row {
  readonly name: string;
  readonly object?: Value;
  readonly request?: Readonly<Record<string, Value>>;
  readonly config?: string;
  /** `result reason`. */
  readonly answer: string;
}

const DECISIONS: readonly Row[] = [
  { name: "a plain pod", answer: "injected policy-enabled" },
  { name: "policy disabled", config: config("", "disabled"), answer: "skipped policy-disabled" },
  { name: "policy invalid", config: config("", "maybe"), object: labelled("true"), answer: "skipped policy-invalid" },
  { name: "label true", object: labelled("true"), answer: "injected label-inject-true" },
  {
    name: "label true, policy disabled",
    config: config("", "disabled"),
    object: labelled("true"),
    answer: "injected label-inject-true",
  },
  { name: "label false", object: labelled("false"), answer: "skipped label-inject-false" },
  { name: "label of another word", object: labelled("yes"), answer: "injected policy-enabled" },
  { name: "annotation false", object: annotated("false"), answer: "skipped annotation-inject-false" },
  {
    name: "annotation true, policy disabled",
    config: config("", "disabled"),
    object: annotated("true"),
    answer: "injected annotation-inject-true",
  },
  { name: "never selector", config: config(never), object: labelled(""), answer: "skipped never-inject-selector" },
  {
    name: "label over never selector",
    config: config(never),
    object: labelled("true"),
    answer: "injected label-inject-true",
  },
  {
    name: "always selector, policy disabled",
    config: config(always, "disabled"),
    object: labelled(""),
    answer: "injected always-inject-selector",
  },
  {
    name: "never over always",
    config: config(`${never}\n${always}`),
    object: labelled(""),
    answer: "skipped never-inject-selector",
  },
  { name: "host network", object: pod({}, { hostNetwork: true }), answer: "skipped pod-host-network" },
  ...["kube-system", "kube-public", "kube-node-lease", "local-path-storage"].map((namespace): Row => ({
    name: `a pod without a namespace in ${namespace}`,
    request: { namespace },
    answer: "skipped namespace-ignored",
  })),
  {
    name: "a pod that names its namespace",
    object: pod({ namespace: "kube-system" }),
    answer: "skipped namespace-ignored",
  },
  { name: "UPDATE", request: { operation: "UPDATE" }, answer: "skipped other-operation" },
  {
    name: "DELETE without an object",
    object: null,
    request: { operation: "DELETE" },
    answer: "skipped other-operation",
  },
  { name: "a subresource", request: { subResource: "ephemeralcontainers" }, answer: "skipped other-subresource" },
  { name: "another kind", object: { kind: "Deployment" }, answer: "skipped other-kind" },
  {
    name: "a request as istioctl sends it",
    object: { metadata: { name: "p" }, spec: { containers: [] } },
    request: { operation: "", kind: { group: "admission.k8s.io", version: "v1", kind: "AdmissionRequest" } },
    answer: "injected policy-enabled",
  },
  { name: "no object", object: null, answer: "failed invalid-review" },
  { name: "an object that is a text", object: "pod", answer: "failed invalid-review" },
  { name: "metadata that is a list", object: { kind: "Pod", metadata: [] }, answer: "failed invalid-manifest" },
  { name: "containers that are a text", object: pod({}, { containers: "app" }), answer: "failed invalid-manifest" },
  { name: "a container without a name", object: pod({}, { containers: [{}] }), answer: "failed invalid-manifest" },
  {
    name: "an invalid annotation",
    object: pod({ annotations: { "sidecar.istio.io/interceptionMode": "none" } }),
    answer: "failed invalid-annotation",
  },
  {
    name: "an unknown template",
    object: pod({ annotations: { "inject.istio.io/templates": "nope" } }),
    answer: "failed template-unknown",
  },
  {
    name: "a template that fails",
    config: "templates: {sidecar: '{{ .Values.a.b }}'}",
    answer: "failed template-failed",
  },
  {
    name: "a template that renders no pod",
    config: "templates: {sidecar: 'spec: {containers: 5}'}",
    answer: "failed invalid-result",
  },
  {
    name: "too many containers",
    object: pod({}, { containers: Array.from({ length: 1001 }, (_, index) => ({ name: `c${index}` })) }),
    answer: "failed too-large",
  },
  {
    name: "more annotations than Kubernetes takes",
    object: pod({ annotations: { a: "x".repeat(256 * 1024) } }),
    answer: "failed too-large",
  },
  {
    name: "as many annotations as Kubernetes takes",
    object: pod({ annotations: { a: "x".repeat(256 * 1024 - 1) } }),
    answer: "injected policy-enabled",
  },
  {
    name: "a template named a hundred times too often",
    object: pod({ annotations: { "inject.istio.io/templates": "sidecar,".repeat(100) } }),
    answer: "failed too-large",
  },
];

for (const { name, object = pod(), request, config: text, answer } of DECISIONS) {
  Deno.test(`reviewPod: ${name}`, () => {
    const injector = text === undefined ? plain : webhookInjector(text);
    const reviewed = reviewPod(reviewBytes(object, request), { injector, path: "/inject" });
    assert.equal(`${reviewed.result} ${reviewed.reason}`, answer, reviewed.message);
    const response = responseOf(reviewed);
    assert.equal(response["uid"], "7f0b2891");
    assert.equal(response["allowed"], reviewed.result !== "failed");
    assert.equal("patch" in response, reviewed.result === "injected");
    assert.equal("patchType" in response, reviewed.result === "injected");
    assert.equal("status" in response, reviewed.result === "failed");
    assert.equal("defect" in reviewed, false);
  });
}

Deno.test("the answer has the version of the review", () => {
  for (const version of ["v1", "v1beta1"]) {
    const { body } = reviewPod(reviewBytes(pod(), {}, version), { injector: plain, path: "/inject" });
    const { apiVersion, kind } = JSON.parse(body);
    assert.deepEqual([apiVersion, kind], [`admission.k8s.io/${version}`, "AdmissionReview"]);
  }
});

const UNREADABLE: readonly (readonly [name: string, bytes: Uint8Array, body: string])[] = [
  ["nothing", new Uint8Array(), 'The review is not valid JSON"}'],
  ["no JSON", new TextEncoder().encode("{"), 'The review is not valid JSON"}'],
  ["no UTF-8", new Uint8Array([0x22, 0xff, 0x22]), 'The review is not valid UTF-8"}'],
  ["a list", jsonBytes([]), 'Invalid review: the body is not a JSON object"}'],
  ["another kind", jsonBytes({ kind: "Pod", apiVersion: "v1" }), 'the body is \\"Pod\\" of \\"v1\\"; '],
];

for (const [name, bytes, expected] of UNREADABLE) {
  Deno.test(`reviewPod refuses ${name} without a version and a uid`, () => {
    const { body, reason } = reviewPod(bytes, { injector: plain, path: "/inject" });
    assert.equal(reason, "invalid-review");
    assert.ok(body.startsWith('{"response":{"uid":"","allowed":false,"status":{"metadata":{},"message":"'), body);
    assert.ok(body.includes(expected), body);
  });
}

Deno.test("reviewPod refuses a review without a request", () => {
  const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };
  const answer = reviewPod(jsonBytes(review), { injector: plain, path: "/inject" });
  assert.equal(answer.reason, "invalid-review");
  assert.match(answer.body, /^\{"apiVersion":"admission.k8s.io\/v1","kind":"AdmissionReview","response":\{"uid":""/);
});

Deno.test("the pod keeps numbers, managed fields, and an absent namespace", () => {
  const object = pod({ managedFields: [{ fieldsV1: { "f:spec": {} } }], generateName: "web-" }, {
    terminationGracePeriodSeconds: 9223372036854775807n,
  });
  const answer = reviewPod(reviewBytes(object), { injector: plain, path: "/inject" });
  const paths = patchOf(answer).map(({ op, path }) => `${op} ${path}`);
  assert.deepEqual(paths, ["add /metadata/annotations", "add /spec/containers/1"]);
  assert.deepEqual([answer.namespace, answer.name, answer.dryRun], ["default", "web", false]);
});

Deno.test("integers beyond 2^53 stay exact", () => {
  const text =
    "templates: {sidecar: 'spec: {containers: [{name: app, securityContext: {runAsUser: 9007199254740993}}]}'}";
  const object = pod();
  const answer = reviewPod(reviewBytes(object), { injector: webhookInjector(text), path: "/inject" });
  const [container] =
    JSON.parse(JSON.stringify(admitted(object, answer), (_, value) => typeof value === "bigint" ? `${value}` : value))
      .spec.containers;
  assert.equal(container.securityContext.runAsUser, "9007199254740993");
});

Deno.test("an injected pod is allowed without a patch", () => {
  const object = pod();
  const first = reviewPod(reviewBytes(object), { injector: plain, path: "/inject" });
  const second = reviewPod(reviewBytes(admitted(object, first)), { injector: plain, path: "/inject" });
  assert.deepEqual([second.result, second.reason, patchOf(second)], ["unchanged", "already-injected", []]);
});

Deno.test("aliases and injectedAnnotations of the configuration are used", () => {
  const more = "aliases: {both: [sidecar, other]}\ninjectedAnnotations: {made: here}\n";
  const injector = webhookInjector(config(more));
  const object = pod({ annotations: { "inject.istio.io/templates": "both" } });
  const text = JSON.stringify(admitted(object, reviewPod(reviewBytes(object), { injector, path: "/inject" })));
  assert.match(text, /"made":"here"/);
  assert.match(text, /"name":"other".*"name":"istio-proxy"|"name":"istio-proxy".*"name":"other"/);
});

Deno.test("a dry run is answered like any other, and marked in the log", () => {
  const wet = reviewPod(reviewBytes(pod()), { injector: plain, path: "/inject" });
  const dry = reviewPod(reviewBytes(pod(), { dryRun: true }), { injector: plain, path: "/inject" });
  assert.deepEqual({ ...dry, dryRun: false }, wet);
  assert.equal(dry.dryRun, true);
});

Deno.test("warnings go to the user who creates the pod", () => {
  const answer = reviewPod(reviewBytes(labelled("yes")), { injector: plain, path: "/inject" });
  assert.match(String(responseOf(answer)["warnings"]), /"yes", which is neither "true" nor "false"/);
});

Deno.test("the proxy gets cluster and network of the URL", () => {
  const object = pod();
  const path = "/inject/cluster/c1/net/n1";
  const text = JSON.stringify(admitted(object, reviewPod(reviewBytes(object), { injector: plain, path })));
  assert.match(text, /\{"name":"ISTIO_META_CLUSTER_ID","value":"c1"\},\{"name":"ISTIO_META_NETWORK","value":"n1"\}/);
  assert.match(text, /"topology.istio.io\/network":"n1"/);
});

Deno.test("an internal error denies the pod, and is logged apart", () => {
  const broken = {
    ...plain,
    get mesh(): never {
      throw new TypeError("a secret of the defect");
    },
  };
  const answer = reviewPod(reviewBytes(pod()), { injector: broken, path: "/inject" });
  assert.deepEqual([answer.result, answer.reason], ["failed", "internal-error"]);
  assert.match(answer.defect ?? "", /^TypeError at /);
  assert.doesNotMatch(answer.defect ?? "", /secret/);
  assert.equal(answer.body.includes("secret"), false);
  assert.equal(responseOf(answer)["uid"], "7f0b2891");
});

Deno.test("names are logged without characters that end a line", () => {
  const object = pod({ name: "a\nerror: b" });
  const { name } = reviewPod(reviewBytes(object), { injector: plain, path: "/inject" });
  assert.equal(name, "a?error:?b");
});
