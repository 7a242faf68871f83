import assert from "node:assert/strict";
import { patchOf, webhookInjector } from "../../../../test/support/kube/review.ts";
import { isMap, type Value, type ValueMap } from "../../../base/value.ts";
import { type Injector, nativeNodes } from "../../../inject/mod.ts";
import type { ReviewContext } from "../pod_injection.ts";
import { ProxyConfigs } from "../proxy_configs.ts";
import { type Reviewed, reviewPod } from "../review_pod.ts";
import { ReviewMemo } from "./memo.ts";

const encoder = new TextEncoder();

/** What Kubernetes makes anew for a pod: the uid of the review, the hash, the end of a volume's name, uid and time. */
interface Names {
  readonly uid: string;
  readonly hash: string;
  readonly end: string;
  readonly owner: string;
  readonly time: string;
}

const NAMES: readonly Names[] = ["1", "2", "3", "4"].map((digit) => ({
  uid: `00000000-0000-4000-8000-00000000000${digit}`,
  hash: `${digit}c68b7f79d`,
  end: `7x2l${digit}`,
  owner: `00000000-0000-4000-9000-00000000000${digit}`,
  time: `2026-11-23T10:00:0${digit}Z`,
}));

/** A review as an API server writes it, of a pod of a Deployment. */
function review({ uid, hash, end, owner, time }: Names, more: Readonly<Record<string, ValueMap>> = {}): string {
  const token = `kube-api-access-${end}`;
  const reference = { apiVersion: "apps/v1", kind: "ReplicaSet", name: `web-${hash}`, uid: owner, controller: true };
  const fields = { "f:metadata": { "f:ownerReferences": { [`k:{"uid":"${owner}"}`]: {} } } };
  return JSON.stringify({
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: {
      uid,
      namespace: "shop",
      operation: "CREATE",
      userInfo: { username: "controller", uid: owner },
      object: {
        kind: "Pod",
        apiVersion: "v1",
        metadata: {
          generateName: `web-${hash}-`,
          labels: { app: "web", "pod-template-hash": hash, ...more["labels"] },
          annotations: { ...more["annotations"] },
          ownerReferences: [{ ...reference, ...more["owner"] }],
          managedFields: [{ manager: "kube-controller-manager", time, fieldsV1: fields }],
        },
        spec: {
          volumes: [{ name: token, emptyDir: {} }],
          containers: [{ name: "app", image: "nginx", volumeMounts: [{ name: token, mountPath: "/t" }] }],
          ...more["spec"],
        },
      },
    },
  });
}

function ask(text: string, context: ReviewContext, memo?: ReviewMemo): Reviewed {
  return reviewPod(encoder.encode(text), context, memo);
}

/** Asks for each text, whose answer is also that without a memo. Returns whether the last one was kept. */
function isKept(texts: readonly string[], context: ReviewContext): boolean {
  const memo = new ReviewMemo();
  let runs = 0;
  for (const text of texts) {
    const first = () => {
      runs++;
      return ask(text, context);
    };
    const again = (read: Value, injector: Injector) => ask(JSON.stringify(read), { ...context, injector });
    assert.deepEqual(memo.answer(text, context, first, again), ask(text, context));
  }
  return runs < texts.length;
}

const builtIn: ReviewContext = { injector: webhookInjector(), path: "/inject" };

function withTemplate(template: string, more = ""): ReviewContext {
  const text = `policy: enabled\ntemplates:\n  sidecar: |\n    metadata: {annotations: {a: "${template}"}}\n` +
    `    spec: {containers: [{name: istio-proxy, image: p}]}\n${more}`;
  return { injector: webhookInjector(text), path: "/inject" };
}

function texts(more: Parameters<typeof review>[1] = {}): readonly string[] {
  return NAMES.map((names) => review(names, more));
}

Deno.test("ReviewMemo: pods of one controller have one answer, each with its own uid and name", () => {
  assert.ok(isKept(texts(), builtIn));
  const memo = new ReviewMemo();
  const answers = texts().map((text) => ask(text, builtIn, memo));
  assert.deepEqual(
    answers.map(({ uid, name }) => ({ uid, name })),
    NAMES.map(({ uid, hash }) => ({ uid, name: `web-${hash}-` })),
  );
  assert.ok(patchOf(answers[3] ?? { body: "{}" }).length > 5);
});

Deno.test("ReviewMemo: a pod that is not injected has one answer too", () => {
  assert.ok(isKept(texts({ labels: { "sidecar.istio.io/inject": "false" } }), builtIn));
});

const KEPT: readonly (readonly [what: string, template: string])[] = [
  ["the owner, whose name is that of the Deployment", "{{ .DeploymentMeta.Name }}"],
  ["another label", "{{ index .ObjectMeta.Labels `app` }}"],
  ["a default that is not needed", "{{ coalesce (index .ObjectMeta.Labels `app`) .ObjectMeta.GenerateName }}"],
  ["whether there is a name", "{{ if .ObjectMeta.GenerateName }}1{{ end }}"],
];

for (const [what, template] of KEPT) {
  Deno.test(`ReviewMemo: kept although a template reads ${what}`, () => {
    assert.ok(isKept(texts(), withTemplate(template)));
  });
}

const NOT_KEPT: readonly (readonly [what: string, template: string])[] = [
  ["writes the hash", "{{ index .ObjectMeta.Labels `pod-template-hash` }}"],
  ["compares the hash", "{{ if eq (index .ObjectMeta.Labels `pod-template-hash`) `4c68b7f79d` }}1{{ end }}"],
  ["looks into generateName", "{{ if hasPrefix `web-4` .ObjectMeta.GenerateName }}1{{ end }}"],
  ["measures a name", "{{ len .ObjectMeta.GenerateName }}"],
  ["compares a uid", "{{ range .ObjectMeta.OwnerReferences }}{{ if contains `4` (toString .UID) }}1{{ end }}{{ end }}"],
  [
    "compares the name of a volume",
    "{{ range .Spec.Volumes }}{{ if eq .Name `kube-api-access-7x2l4` }}1{{ end }}{{ end }}",
  ],
  ["looks into all labels", "{{ if contains `4c68` (toJSON .ObjectMeta.Labels) }}1{{ end }}"],
];

for (const [what, template] of NOT_KEPT) {
  Deno.test(`ReviewMemo: not kept if a template ${what}`, () => assert.ok(!isKept(texts(), withTemplate(template))));
}

for (const template of ["{{ now | len }}", "{{ randAlpha 3 | len }}"]) {
  Deno.test(`ReviewMemo: not kept with a template of chance: ${template}`, () => {
    assert.ok(!isKept(texts(), withTemplate(template)));
  });
}

Deno.test("ReviewMemo: not kept where the hash decides outside of templates", () => {
  const selector = "neverInjectSelector: [{matchLabels: {pod-template-hash: 4c68b7f79d}}]";
  assert.ok(!isKept(texts(), withTemplate("x", selector)));
  const resource: Value = {
    metadata: { name: "p", namespace: "shop" },
    spec: { concurrency: 3, selector: { matchLabels: { "pod-template-hash": "4c68b7f79d" } } },
  };
  assert.ok(isMap(resource) && !isKept(texts(), { ...builtIn, proxyConfigs: new ProxyConfigs([resource]) }));
  const rollout = { "rollouts-pod-template-hash": "b7f79d" };
  assert.ok(!isKept(texts({ labels: rollout }), withTemplate("{{ .DeploymentMeta.Name }}")));
  assert.ok(!isKept(texts({ owner: { kind: "Job" } }), withTemplate("x")));
});

Deno.test("ReviewMemo: not kept if a name stands elsewhere", () => {
  const images = NAMES.map((names) =>
    review(names, { spec: { containers: [{ name: "app", image: `web:${names.hash}` }] } })
  );
  assert.ok(!isKept(images, builtIn));
  const notes = NAMES.map((names) => review(names, { annotations: { note: names.hash } }));
  assert.ok(!isKept(notes, builtIn));
  const keys = NAMES.map((names) => review(names, { labels: { [names.hash]: "x" } }));
  assert.ok(!isKept(keys, builtIn));
});

Deno.test("ReviewMemo: another pod, path or configuration has its own answer", () => {
  const memo = new ReviewMemo();
  const contexts: readonly ReviewContext[] = [
    builtIn,
    { ...builtIn, path: "/inject/cluster/other/net/two" },
    withTemplate("x"),
    { ...builtIn, proxyConfigs: new ProxyConfigs([{ metadata: { namespace: "shop" }, spec: { concurrency: 7 } }]) },
    {
      injector: webhookInjector(undefined, { ENABLE_NATIVE_SIDECARS: "auto" }),
      path: "/inject",
      nodes: nativeNodes([]),
    },
  ];
  const pods = [
    texts(),
    texts({ labels: { app: "other" } }),
    texts({ annotations: { "sidecar.istio.io/proxyImage": "i" } }),
  ];
  for (let round = 0; round < 2; round++) {
    for (const context of contexts) {
      for (const text of pods.flat()) assert.deepEqual(ask(text, context, memo), ask(text, context));
    }
  }
});

Deno.test("ReviewMemo: a text that is no review of an API server is not looked up", () => {
  const [first = ""] = texts();
  const broken = [first.slice(0, -1), first.replace('"uid":"0000', '"uid":"\u0003'), "{}", first.replace("{", "{ ")];
  const memo = new ReviewMemo();
  for (const text of [...texts(), ...broken, ...broken, ...broken]) {
    assert.deepEqual(ask(text, builtIn, memo), ask(text, builtIn));
  }
});

Deno.test("ReviewMemo: the oldest shapes are forgotten when there are too many", () => {
  const memo = new ReviewMemo();
  const context = withTemplate("x");
  const isKnown = (app: string) => {
    let runs = 0;
    const [text = ""] = texts({ labels: { app } });
    const first = () => {
      runs++;
      return ask(text, context);
    };
    memo.answer(text, context, first, (read, injector) => ask(JSON.stringify(read), { ...context, injector }));
    return runs === 0;
  };
  assert.deepEqual([isKnown("a"), isKnown("a"), isKnown("a")], [false, false, true]);
  for (let index = 0; index < 1000; index++) isKnown(`b${index}`);
  assert.ok(!isKnown("a"));
});
