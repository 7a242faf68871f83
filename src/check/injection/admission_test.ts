import assert from "node:assert/strict";
import { ApiError, type KubeObject } from "../../kube/client/mod.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { ACCESS_REVIEWS, clusterApi, type ClusterOptions, object } from "../../../test/support/kube/cluster.ts";
import { meshObjects } from "../../../test/support/kube/mesh_webhooks.ts";
import { explainInjection } from "./explain_injection.ts";

const MESH = meshObjects().filter(({ kind }) => /Configuration|ConfigMap/.test(kind));
const INJECTED = object("v1", "Pod", "shop/web", { metadata: { annotations: { "sidecar.istio.io/status": "{}" } } });
const NO_RIGHT = new ApiError(
  'The Kubernetes API server denied the request: pods is forbidden: User "ada" cannot create resource "pods"',
  { status: 403 },
);

function namespace(labels: Record<string, string> = {}): KubeObject {
  return object("v1", "Namespace", "shop", { metadata: { labels: { "istio-injection": "enabled", ...labels } } });
}

function workload(kind: string, status: Record<string, unknown> = {}): KubeObject {
  const [apiVersion, spec] = kind === "Pod" ? ["v1", SPEC] : ["apps/v1", { template: { spec: SPEC } }];
  return object(apiVersion, kind, "shop/web", JSON.parse(JSON.stringify({ spec, status })));
}

const SPEC = { nodeName: "node-1", containers: [{ name: "app", image: "example.com/app:1" }] };

async function explained(objects: readonly KubeObject[], options: ClusterOptions, kind = "Deployment") {
  const question = { workload: `${kind}/web`, namespace: "shop", choice: {}, configuration: {} };
  const api = clusterApi({ objects: [...MESH, ...objects], ...options });
  const [explanation] = await explainInjection(fakeWorld(), api, question);
  assert(explanation !== undefined);
  return { ...explanation, requests: api.requests };
}

function answering(message: string, status: number): ClusterOptions {
  return { dryRun: () => Promise.reject(new ApiError(message, { status })) };
}

Deno.test("the API server admits the pod: the dry run sends no fields that the cluster sets", async () => {
  let sent: unknown;
  const dryRun = (_namespace: string, pod: object) => {
    sent = pod;
    return INJECTED;
  };
  const { verdict } = await explained([namespace(), workload("Pod")], { dryRun }, "Pod");
  assert.equal(verdict, "injected");
  assert.deepEqual(sent, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { generateName: "web-", labels: {}, annotations: {} },
    spec: { containers: SPEC.containers },
  });
});

const REFUSALS: readonly (readonly [name: string, message: string, status: number, reason: string])[] = [
  [
    "Pod Security",
    'The Kubernetes API server denied the request: pods "web-" is forbidden: violates PodSecurity "baseline:latest"',
    403,
    "api-server-refuses",
  ],
  [
    "validation",
    'The Kubernetes API server "x" answered 422 to POST /api/v1/pods: Pod is invalid',
    422,
    "api-server-refuses",
  ],
  [
    "another webhook",
    'The Kubernetes API server "x" answered 400 to POST /api/v1/pods: admission webhook "other" denied the request: no',
    400,
    "api-server-refuses",
  ],
  [
    "a webhook that cannot be called",
    'The Kubernetes API server "x" answered 500 to POST /api/v1/pods: failed calling webhook "y": timed out',
    500,
    "webhook-fails",
  ],
];

for (const [name, message, status, reason] of REFUSALS) {
  Deno.test(`the API server refuses the pod: ${name}`, async () => {
    const found = await explained([namespace(), workload("Deployment")], answering(message, status));
    assert.deepEqual([found.verdict, found.by, found.reason, found.hasProblem], ["refused", null, reason, true]);
    assert.match(found.message, /^would be injected, but the API server refuses the pod: (?!The Kubernetes)/);
  });
}

Deno.test("a dry run without a sidecar: the pod is not injected, which is a problem", async () => {
  const found = await explained([namespace(), workload("Deployment")], {
    dryRun: () => object("v1", "Pod", "shop/web"),
  });
  assert.deepEqual([found.verdict, found.reason, found.hasProblem], ["not-injected", "webhook-without-effect", true]);
});

Deno.test("a pod that is not injected needs no dry run", async () => {
  const { requests } = await explained([object("v1", "Namespace", "shop"), workload("Deployment")], {});
  assert.deepEqual(
    requests.filter((request) => request.startsWith("create") && request !== `create ${ACCESS_REVIEWS}`),
    [],
  );
});

const JUDGED: readonly (readonly [name: string, objects: readonly KubeObject[], message: RegExp])[] = [
  [
    "Pod Security",
    [namespace({ "pod-security.kubernetes.io/enforce": "baseline" })],
    /Pod Security enforces baseline: container "istio-init" adds NET_ADMIN/,
  ],
  [
    "a quota",
    [namespace(), object("v1", "ResourceQuota", "shop/small", { spec: { hard: { "requests.cpu": "1m" } } })],
    /the quota "small" requires requests\.cpu, which the container "app" does not set/,
  ],
  [
    "a limit range",
    [
      namespace(),
      object("v1", "LimitRange", "shop/low", { spec: { limits: [{ type: "Container", max: { memory: "1Mi" } }] } }),
    ],
    /the limit range "low" allows memory of at most 1Mi/,
  ],
];

for (const [name, objects, message] of JUDGED) {
  Deno.test(`without the right to create pods: ${name} refuses the pod`, async () => {
    const dryRun = () => Promise.reject(NO_RIGHT);
    const found = await explained([...objects, workload("Deployment")], { dryRun });
    assert.equal(found.verdict, "refused");
    assert.match(found.message, message);
  });
}

Deno.test("without the right to create pods, the verdict is injected with a warning", async () => {
  const options = { dryRun: () => Promise.reject(NO_RIGHT), forbidden: /limitranges/ };
  const { verdict, warnings } = await explained([namespace(), workload("Deployment")], options);
  assert.equal(verdict, "injected");
  assert.match(warnings[0] ?? "", /^no dry run shows whether .*: needs create on pods in the namespace "shop"$/);
  assert.match(warnings[1] ?? "", /needs list on limitranges/);
});

/** Matches the paths that a user with rights in only one namespace may not read. */
const ELSEWHERE = /^\/apis\/admission|\/namespaces\/istio-system\//;

/** Dry runs without the right to read webhooks: labels of namespace and pod, the answer, verdict, reason, and text. */
const SHOWN: readonly (readonly [
  labels: Record<string, string>,
  answer: ClusterOptions["dryRun"],
  verdict: readonly [verdict: string, by: string | null, reason: string, hasProblem: boolean],
  message: string,
])[] = [
  [
    {},
    () => INJECTED,
    ["injected", "dry-run", "dry-run", false],
    "the API server added the sidecar in a dry run: the namespace has the label istio-injection=enabled",
  ],
  [
    { "istio-injection": "" },
    () => INJECTED,
    ["injected", "dry-run", "dry-run", false],
    "the API server added the sidecar in a dry run",
  ],
  [
    { "istio-injection": "" },
    undefined,
    ["not-injected", null, "namespace-not-labelled", false],
    "in a dry run, the API server creates the pod without a sidecar: neither the namespace nor the pod has an injection label",
  ],
  [
    {},
    undefined,
    ["not-injected", null, "webhook-without-effect", true],
    "in a dry run, the API server creates the pod without a sidecar, although the namespace has the label istio-injection=enabled",
  ],
  [
    {},
    () => Promise.reject(new ApiError("no", { status: 422 })),
    ["refused", null, "api-server-refuses", true],
    "the API server refuses the pod in a dry run: no",
  ],
];

for (const [labels, dryRun, [verdict, by, reason, hasProblem], message] of SHOWN) {
  Deno.test(`without the right to read webhooks, a dry run is the verdict: ${message}`, async () => {
    const options = { forbidden: ELSEWHERE, ...dryRun === undefined ? {} : { dryRun } };
    const found = await explained([namespace(labels), workload("Deployment")], options);
    assert.deepEqual([found.verdict, found.by, found.reason, found.hasProblem], [verdict, by, reason, hasProblem]);
    assert.deepEqual([found.message, found.warnings], [message, []]);
  });
}

const MESSAGE = 'pods "web-1" is forbidden: exceeded quota';
const FAILED = { conditions: [{ type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: MESSAGE }] };

Deno.test("a controller that cannot create pods: its condition is reported, and decides without a dry run", async () => {
  const line = `deployment/web cannot create pods (FailedCreate): ${MESSAGE}`;
  const objects = [namespace(), workload("Deployment", FAILED)];
  const admitted = await explained(objects, { dryRun: () => INJECTED });
  assert.deepEqual([admitted.verdict, admitted.warnings, admitted.hasProblem], ["injected", [line], true]);
  const unknown = await explained(objects, { dryRun: () => Promise.reject(NO_RIGHT) });
  assert.deepEqual([unknown.verdict, unknown.message], [
    "refused",
    `would be injected, but the API server refuses the pod: ${line}`,
  ]);
});

Deno.test("for a controller without conditions, events are read", async () => {
  const event = (name: string, lastTimestamp: string, rest: Record<string, string> = {}) =>
    object("v1", "Event", `shop/${name}`, {
      involvedObject: { kind: "StatefulSet", name: "web", namespace: "shop", ...rest },
      reason: "FailedCreate",
      message: name,
      lastTimestamp,
    });
  const events = [
    event("new", "2026-01-02T00:00:00Z"),
    event("old", "2026-01-01T00:00:00Z"),
    event("other", "2026-01-03T00:00:00Z", { name: "other" }),
  ];
  const objects = [namespace(), workload("StatefulSet"), ...events];
  const { warnings } = await explained(objects, { dryRun: () => INJECTED }, "StatefulSet");
  assert.deepEqual(warnings, ["statefulset/web cannot create pods (FailedCreate): new"]);
});
