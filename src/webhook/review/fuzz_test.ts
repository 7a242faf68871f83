/** Every input gets an answer that the API server can read, and every patch makes a valid pod. */
import assert from "node:assert/strict";
import { sameValue } from "../../base/values/mod.ts";
import { newMap, type Value, type ValueMap } from "../../base/value.ts";
import { fc } from "../../../test/support/properties.ts";
import {
  admitted,
  jsonBytes,
  patchOf,
  responseOf,
  reviewBytes,
  webhookInjector,
} from "../../../test/support/kube/review.ts";
import { ProxyConfigs } from "./proxy_configs.ts";
import { reviewPod } from "./review_pod.ts";

const proxyConfigs = new ProxyConfigs([
  { metadata: { namespace: "istio-system", name: "r" }, spec: { concurrency: 2 } },
  { metadata: { namespace: "default", name: "d" }, spec: { selector: { matchLabels: { app: "a" } }, image: {} } },
]);
const namespace = (name: string) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, annotations: { "openshift.io/sa.scc.uid-range": "1000/10" } },
});
const contexts = [{}, { PLATFORM: "openshift" }].map((env) => {
  const injector = webhookInjector(undefined, env);
  return { injector, path: "/inject/cluster/c/net/n", proxyConfigs, namespace };
});
const plain = { injector: webhookInjector(), path: "/inject" };

/** Runs of each property. All together take a few seconds. */
const RUNS = { numRuns: 400, interruptAfterTimeLimit: 8000, markInterruptAsFailure: false };

/** Checks that the API server would accept the answer. */
function checkAnswer(bytes: Uint8Array): void {
  const answer = reviewPod(bytes, contexts[0] ?? plain);
  assert.equal(answer.defect, undefined);
  const response = responseOf(answer);
  assert.equal(typeof response["allowed"], "boolean");
  assert.equal(typeof response["uid"], "string");
  assert.equal(response["allowed"], answer.result !== "failed");
  assert.match(answer.reason, /^[a-z-]+$/);
  assert.equal("patch" in response, answer.result === "injected");
}

Deno.test("any bytes get an answer", () => {
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array(), fc.string().map((text) => new TextEncoder().encode(text))), checkAnswer),
    RUNS,
  );
});

Deno.test("any JSON gets an answer", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => checkAnswer(new TextEncoder().encode(JSON.stringify(value)))), RUNS);
});

const scalar = fc.constantFrom<Value>(
  null,
  true,
  0,
  -1,
  1.5,
  2n ** 63n,
  "",
  "true",
  "{}",
  "istio-proxy",
  "\u0000",
  "\ud800",
);
const any = fc.oneof(
  scalar,
  fc.constantFrom<() => Value>(() => [], () => newMap(), () => [null], () => [[]], () => ({ name: "istio-proxy" })).map(
    (make) => make(),
  ),
);

const KEYS = [
  ...["apiVersion", "kind", "request", "uid", "object", "operation", "namespace", "subResource", "dryRun"],
  ...["metadata", "spec", "name", "labels", "annotations", "managedFields", "ownerReferences", "generateName"],
  ...["containers", "initContainers", "volumes", "env", "ports", "containerPort", "readinessProbe", "httpGet", "port"],
  ...["securityContext", "runAsUser", "resources", "hostNetwork", "dnsPolicy", "imagePullSecrets", "__proto__"],
];

const WRITTEN_BY_INJECTION = ["sidecar.istio.io/status", "proxy.istio.io/overrides"];

const ANNOTATIONS = [
  ...WRITTEN_BY_INJECTION,
  "proxy.istio.io/config",
  "inject.istio.io/templates",
  "sidecar.istio.io/userVolume",
  "prometheus.io/port",
  "sidecar.istio.io/inject",
  "status.sidecar.istio.io/port",
];

function pod(): ValueMap {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: "web-5d4f-",
      labels: { app: "a", "pod-template-hash": "5d4f" },
      annotations: { "prometheus.io/port": "8080" },
      managedFields: [{ manager: "kubectl", fieldsV1: { "f:metadata": {} } }],
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5d4f", uid: "u", controller: true }],
    },
    spec: {
      initContainers: [{ name: "init", image: "i" }],
      containers: [
        {
          name: "app",
          image: "a",
          env: [{ name: "A", value: "1" }],
          ports: [{ containerPort: 80, name: "http" }],
          readinessProbe: { httpGet: { path: "/", port: "http" } },
          resources: {},
        },
        { name: "istio-proxy", image: "auto", securityContext: { runAsUser: 1000 } },
      ],
      volumes: [{ name: "v", emptyDir: {} }],
    },
  };
}

interface Edit {
  readonly key: string;
  readonly value: Value;
  /** The index of the mapping, among the mappings that have the key. */
  readonly nth: number;
}

const edit: fc.Arbitrary<Edit> = fc.record({ key: fc.constantFrom(...KEYS), value: any, nth: fc.nat(4) });

/** Sets a key in the nth mapping with this key, or in the nth mapping of all. */
function edited(root: Value, { key, value, nth }: Edit): Value {
  const maps: ValueMap[] = [];
  const visit = (at: Value): void => {
    if (typeof at !== "object" || at === null) return;
    if (!Array.isArray(at)) maps.push(at);
    Object.values(at).forEach(visit);
  };
  visit(root);
  const having = maps.filter((map) => Object.hasOwn(map, key));
  const target = (having.length > 0 ? having : maps)[nth % Math.max(1, having.length || maps.length)];
  if (target !== undefined) {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return root;
}

Deno.test("a review with any broken part gets an answer", () => {
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
      const review: Value = {
        apiVersion: "admission.k8s.io/v1",
        kind: "AdmissionReview",
        request: { uid: "u", kind: { kind: "Pod" }, operation: "CREATE", namespace: "default", object: pod() },
      };
      checkAnswer(jsonBytes(edits.reduce<Value>(edited, review)));
    }),
    { ...RUNS, numRuns: 1500 },
  );
});

const annotation = fc.tuple(
  fc.constantFrom(...ANNOTATIONS),
  fc.oneof(
    fc.constantFrom("", "{}", "[]", "null", '{"containers":5}', "a: b", "1", "true", "sidecar,sidecar"),
    fc.string(),
    fc.json(),
  ),
);

Deno.test("any annotations get an answer, and an admitted pod does not change in a second review", () => {
  fc.assert(
    fc.property(fc.array(annotation, { maxLength: 3 }), fc.nat(1), (annotations, which) => {
      const context = contexts[which] ?? plain;
      const object = edited(pod(), { key: "annotations", value: Object.fromEntries(annotations), nth: 0 });
      checkAnswer(reviewBytes(object));
      const first = reviewPod(reviewBytes(object), context);
      assert.equal(first.defect, undefined);
      // A pod with a false injection status is injected by that status, so a second review changes it.
      const claims = annotations.some(([name]) => WRITTEN_BY_INJECTION.includes(name));
      if (first.result !== "injected" || claims) return;
      const once = admitted(object, first);
      const second = reviewPod(reviewBytes(once), context);
      assert.ok(sameValue(admitted(once, second), once), JSON.stringify(patchOf(second).map(({ path }) => path)));
    }),
    RUNS,
  );
});
