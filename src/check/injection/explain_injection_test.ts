import assert from "node:assert/strict";
import { ApiError, type KubeObject } from "../../kube/client/mod.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { clusterApi, type ClusterOptions, object } from "../../../test/support/kube/cluster.ts";
import { meshObjects } from "../../../test/support/kube/mesh_webhooks.ts";
import { fixLines } from "../advice/text.ts";
import type { Explanation } from "./explanation.ts";
import { labelChoice } from "../inventory/mod.ts";
import { explainInjection, type InjectionQuestion } from "./explain_injection.ts";
import { EXPLANATION } from "./explanation_schema.ts";
import { explanationJson, explanationText, overviewText } from "./print.ts";

const LOOK = { width: 80, tableWidth: Infinity, isWide: false };
const MESH = meshObjects().filter(({ kind }) => /Configuration|ConfigMap/.test(kind));
const CANARY = meshObjects({ revision: "canary" }).filter(({ kind }) => /Configuration|ConfigMap/.test(kind));
const APP = { name: "app", image: "example.com/app:1" };
const INJECT = "sidecar.istio.io/inject";

function namespace(labels: Record<string, string> = {}): KubeObject {
  return object("v1", "Namespace", "shop", { metadata: { labels } });
}

function deployment(template: Record<string, string> = {}, own: Record<string, string> = {}): KubeObject {
  const spec = { template: { metadata: { labels: template }, spec: { containers: [APP] } } };
  return object("apps/v1", "Deployment", "shop/web", { metadata: { labels: own }, spec });
}

function livePod(name: string, containers = [APP]): KubeObject {
  const ownerReferences = [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5d4", controller: true }];
  const labels = { "pod-template-hash": "5d4" };
  return object("v1", "Pod", `shop/${name}`, {
    metadata: { labels, ownerReferences, generateName: "web-5d4-" },
    spec: { containers },
    status: { phase: "Running" },
  });
}

/** The answer to a dry run if a webhook injects the pod. */
function injected(): KubeObject {
  return object("v1", "Pod", "shop/web-1", { metadata: { annotations: { "sidecar.istio.io/status": "{}" } } });
}

async function explained(objects: readonly KubeObject[], options: Partial<ClusterOptions & InjectionQuestion> = {}) {
  const question = { workload: "deploy/web", namespace: "shop", choice: {}, configuration: {}, ...options };
  const api = clusterApi({ objects, dryRun: injected, ...options });
  const [explanation] = await explainInjection(fakeWorld(), api, question);
  assert(explanation !== undefined);
  return explanation;
}

interface Row {
  readonly name: string;
  readonly objects: readonly KubeObject[];
  readonly reason: string;
  readonly field: string;
  readonly shown: readonly string[];
}

/** The lines of the advice. */
function shownOf({ fixes }: Explanation): readonly string[] {
  return fixLines(fixes).map(({ text }) => text);
}

/** The command that changes a label of the pod template. */
function patched(key: string, value: string | null): string {
  const patch = { spec: { template: { metadata: { labels: { [key]: value } } } } };
  return `kubectl patch deployment/web -n shop --type=merge -p '${JSON.stringify(patch)}'`;
}

const RESTART = "kubectl rollout restart deployment/web -n shop";
const NAMESPACE_LABEL = 'namespace.metadata.labels["istio-injection"]';

const ROWS: readonly Row[] = [
  {
    name: "no webhook",
    objects: [namespace(), deployment()],
    reason: "no-webhook",
    field: "",
    shown: [
      "fix: install the control plane again",
      "or: see whether the remaining objects of the control plane name its installer:",
      "kubectl mesh check webhook",
      "or: see how to run a webhook with its own revision:",
      "kubectl mesh webhook manifests --help",
    ],
  },
  {
    name: "no label",
    objects: [...MESH, namespace(), deployment(), livePod("web-5d4-1")],
    reason: "namespace-not-labelled",
    field: "namespace.metadata.labels",
    shown: [
      "fix: inject this workload only: set the label sidecar.istio.io/inject=true on the pod:",
      patched(INJECT, "true"),
      "or: inject the namespace:",
      "kubectl label namespace shop istio-injection=enabled",
      RESTART,
    ],
  },
  {
    name: "no label, and a revision alone",
    objects: [...CANARY, namespace(), deployment()],
    reason: "namespace-not-labelled",
    field: "namespace.metadata.labels",
    shown: [
      "fix: inject this workload only: set the label istio.io/rev=canary on the pod:",
      patched("istio.io/rev", "canary"),
      "or: inject the namespace:",
      "kubectl label namespace shop istio.io/rev=canary",
    ],
  },
  {
    name: "a misspelt label",
    objects: [...MESH, namespace({ "istio-injection": "true" }), deployment({ [INJECT]: "true" })],
    reason: "namespace-label-misspelt",
    field: NAMESPACE_LABEL,
    shown: [
      "fix: remove the label of the namespace:",
      "kubectl label namespace shop istio-injection-",
      "or: correct the label:",
      "kubectl label namespace shop istio-injection=enabled --overwrite",
    ],
  },
  {
    name: "disabled",
    objects: [...MESH, namespace({ "istio-injection": "disabled" }), deployment()],
    reason: "namespace-disabled",
    field: NAMESPACE_LABEL,
    shown: [
      "fix: inject this workload only: set the label sidecar.istio.io/inject=true on the pod:",
      "kubectl label namespace shop istio-injection-",
      patched(INJECT, "true"),
      "or: inject the namespace:",
      "kubectl label namespace shop istio-injection=enabled --overwrite",
    ],
  },
  {
    name: "the default where there is a revision alone",
    objects: [...CANARY, namespace({ "istio-injection": "enabled" }), deployment()],
    reason: "revision-not-served",
    field: NAMESPACE_LABEL,
    shown: [
      "fix: inject this workload only: set the label istio.io/rev=canary on the pod:",
      "kubectl label namespace shop istio-injection-",
      patched("istio.io/rev", "canary"),
      "or: use a revision that a webhook serves:",
      "kubectl label namespace shop istio-injection- istio.io/rev=canary",
    ],
  },
  {
    name: "a revision of nobody",
    objects: [...CANARY, namespace({ "istio.io/rev": "1-9" }), deployment()],
    reason: "revision-not-served",
    field: 'namespace.metadata.labels["istio.io/rev"]',
    shown: [
      "fix: inject this workload only: set the label istio.io/rev=canary on the pod:",
      "kubectl label namespace shop istio.io/rev-",
      patched("istio.io/rev", "canary"),
      "or: use a revision that a webhook serves:",
      "kubectl label namespace shop istio.io/rev=canary --overwrite",
    ],
  },
  {
    name: "opted out",
    objects: [...MESH, namespace({ "istio-injection": "enabled" }), deployment({ [INJECT]: "false" })],
    reason: "label-inject-false",
    field: `spec.template.metadata.labels["${INJECT}"]`,
    shown: ["fix: remove the label sidecar.istio.io/inject from the pod:", patched(INJECT, null)],
  },
];

for (const { name, objects, reason, field, shown } of ROWS) {
  Deno.test(`check injection: ${name}`, async () => {
    const explanation = await explained(objects);
    assert.deepEqual(
      {
        verdict: explanation.verdict,
        reason: explanation.reason,
        field: explanation.field,
        shown: shownOf(explanation),
      },
      { verdict: "not-injected", reason, field, shown },
    );
  });
}

Deno.test("check injection: live pods older than the label are a problem, and are recreated", async () => {
  const pods = [livePod("web-5d4-1"), livePod("web-5d4-2")];
  const explanation = await explained([...MESH, namespace({ "istio-injection": "enabled" }), deployment(), ...pods]);
  assert.equal(explanation.verdict, "injected");
  assert.deepEqual(explanation.warnings, ["2 live pods have no proxy, but a new pod gets a proxy"]);
  assert.deepEqual(shownOf(explanation), ["fix: recreate its pods:", RESTART]);
  assert.equal(explanation.hasProblem, true);
  const shown = /the policy is "enabled"; 2 live pods have no proxy, but a new pod gets a proxy/;
  assert.match(overviewText([explanation], { ...LOOK, width: 200 }), shown);
  assert.match(overviewText([explanation], { ...LOOK, isWide: true }), shown);
});

Deno.test("check injection: a key of the namespace that nothing reads is reported", async () => {
  const { message } = await explained([...MESH, namespace({ "istio.io/revision": "default" }), deployment()]);
  assert.match(
    message,
    /no injection label: .*; the label "istio\.io\/revision" has no effect; did you mean "istio\.io\/rev"\?$/,
  );
});

Deno.test("check injection: a label on the Deployment itself is reported with the commands that move it", async () => {
  const explanation = await explained([...MESH, namespace(), deployment({}, { [INJECT]: "true" })]);
  assert.match(explanation.warnings[0] ?? "", /is on the Deployment itself, where it has no effect/);
  const [change, patch, label] = shownOf(explanation);
  assert.match(change ?? "", /^fix: move it to the pod template: /);
  assert.match(patch ?? "", /^kubectl patch deployment\/web/);
  assert.equal(label, `kubectl label deployment/web -n shop ${INJECT}-`);
});

Deno.test("check injection: forbidden reads are warnings, and the other data is reported", async () => {
  const objects = [...MESH, namespace({ "istio-injection": "enabled" }), deployment()];
  const message = 'The Kubernetes API server denied the request: pods is forbidden: User "ada" cannot create it';
  const dryRun = () => Promise.reject(new ApiError(message, { status: 403 }));
  const forbidden = /mutatingwebhookconfigurations|configmaps|pods$/;
  const explanation = await explained(objects, { forbidden, dryRun });
  assert.deepEqual(explanation.warnings, [
    'cannot tell the state of live pods: needs list on pods in the namespace "shop"',
    "cannot tell which webhooks exist: needs list on mutatingwebhookconfigurations",
    'no dry run shows what happens to the pod: needs create on pods in the namespace "shop"',
  ]);
  assert.deepEqual([explanation.verdict, explanation.reason], ["cannot-tell", "webhooks-unknown"]);
  assert.equal(explanation.hasProblem, true);
  const json = EXPLANATION.parse(JSON.parse(explanationJson(explanation)));
  assert.deepEqual([json.verdict, json.injected, json.by], ["cannot-tell", null, null]);
  assert.match(explanationText(explanation, LOOK), /^deployment\.apps\/web in the namespace "shop": cannot tell\n/);
});

const STATUS = { "sidecar.istio.io/status": "{}" };
const SIDECAR = { name: "istio-proxy", image: "example.com/proxyv2:1" };
const REMOVE = "remove the workload from the mesh: take the sidecar out of its manifest";
const FIRST = [
  "next: see first which pods are in the mesh:",
  "kubectl mesh check injection -n shop",
];

/** A Deployment whose manifest contains a proxy. */
function withSidecar(proxy = SIDECAR, annotations: Record<string, string> = STATUS): KubeObject {
  const template = { metadata: { annotations }, spec: { containers: [APP, proxy] } };
  return object("apps/v1", "Deployment", "shop/web", { spec: { template } });
}

Deno.test("check injection: a workload whose manifest contains the sidecar is in the mesh without a webhook", async () => {
  for (const webhooks of [MESH, []]) {
    const explanation = await explained([
      ...webhooks,
      namespace(),
      withSidecar(),
      livePod("web-5d4-1", [APP, SIDECAR]),
    ]);
    const { verdict, injected, by, reason, field, warnings, hasProblem } = explanation;
    assert.deepEqual({ verdict, injected, by, reason, field, warnings, hasProblem }, {
      verdict: "not-injected",
      injected: false,
      by: null,
      reason: "proxy-in-manifest",
      field: "spec.template.spec.containers",
      warnings: [],
      hasProblem: false,
    });
    assert.deepEqual(shownOf(explanation), [
      ...FIRST,
      `or: ${REMOVE}:`,
      "kubectl get deployment/web -n shop -o yaml | kubectl mesh uninject -f - | kubectl replace -f -",
    ]);
    EXPLANATION.parse(JSON.parse(explanationJson(explanation)));
    assert.match(
      explanationText(explanation, LOOK),
      /^deployment\.apps\/web in the namespace "shop": in the mesh by its manifest\n {2}the manifest contains/,
    );
    assert.match(overviewText([explanation], LOOK), /deployment\.apps\/web +in manifest +the manifest contains/);
  }
});

Deno.test("check injection: a pod has the sidecar of its controller's manifest", async () => {
  const objects = [...MESH, namespace(), withSidecar(), livePod("web-5d4-1", [APP, SIDECAR])];
  const explanation = await explained(objects, { workload: "pod/web-5d4-1" });
  assert.deepEqual([explanation.reason, explanation.warnings], ["proxy-in-manifest", []]);
  assert.deepEqual(shownOf(explanation), [
    "next: see how to change its controller, which creates the pods:",
    "kubectl mesh check injection deployment/web -n shop",
  ]);
});

Deno.test("check injection: without the right to read the controller, its manifest is unknown", async () => {
  const objects = [...MESH, namespace(), withSidecar(), livePod("web-5d4-1", [APP, SIDECAR])];
  const { verdict, injected, reason, message, hasProblem } = await explained(objects, {
    workload: "pod/web-5d4-1",
    forbidden: /deployments/,
  });
  assert.deepEqual([verdict, injected, reason, hasProblem], ["cannot-tell", null, "manifest-unknown", true]);
  assert.match(message, /whether its controller's manifest contains the proxy is unknown: /);
});

Deno.test("check injection: live pods that differ from the sidecar in the manifest are recreated", async () => {
  const explanation = await explained([...MESH, namespace(), withSidecar(), livePod("web-5d4-1")]);
  assert.deepEqual(explanation.warnings, ["1 live pod has no proxy, but a new pod gets a proxy"]);
  assert.deepEqual(shownOf(explanation).slice(0, 2), ["fix: recreate its pods:", RESTART]);
});

Deno.test('check injection: a proxy with the image "auto" in the manifest is not a sidecar', async () => {
  const { verdict, reason } = await explained([...MESH, namespace(), withSidecar({ ...SIDECAR, image: "auto" })]);
  assert.deepEqual([verdict, reason], ["not-injected", "namespace-not-labelled"]);
});

Deno.test("check injection: the proxy of a gateway's manifest gets no fix that removes it", async () => {
  const { reason, fixes } = await explained([...MESH, namespace(), withSidecar(SIDECAR, {})]);
  assert.deepEqual([reason, fixes], ["proxy-in-manifest", []]);
});

Deno.test("check injection: a sidecar in the manifest is not reported as injected without the webhooks", async () => {
  const { reason } = await explained([namespace(), withSidecar()], { forbidden: /mutatingwebhookconfigurations/ });
  assert.equal(reason, "proxy-in-manifest");
});

Deno.test("check injection: a pod without a controller leaves the mesh only without its sidecar", async () => {
  const pod = (applied: object) =>
    object("v1", "Pod", "shop/left", {
      metadata: {
        annotations: { ...STATUS, "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(applied) },
      },
      spec: { containers: [APP, SIDECAR] },
    });
  const command = "kubectl get pod/left -n shop -o yaml | kubectl mesh uninject -f - | kubectl replace --force -f -";
  const workload = "pod/left";
  const left = await explained([...MESH, namespace(), pod({ spec: { containers: [APP] } })], { workload });
  assert.deepEqual([left.verdict, left.warnings], ["not-injected", [
    "1 live pod has a proxy, but a new pod does not get one",
  ]]);
  assert.deepEqual(shownOf(left).slice(-2), [`or: ${REMOVE}, delete the pod and create it again:`, command]);
  const byHand = await explained([...MESH, namespace(), pod({ spec: { containers: [APP, SIDECAR] } })], { workload });
  assert.deepEqual([byHand.reason, byHand.warnings], ["proxy-in-manifest", []]);
  assert.deepEqual(shownOf(byHand).slice(-1), [command]);
});

Deno.test("check injection: a missing workload", async () => {
  await assert.rejects(explained([...MESH, namespace()]), /There is no "deploy\/web" in the namespace "shop"/);
  await assert.rejects(explained(MESH), /There is no namespace "shop"/);
});

Deno.test("check injection: text and JSON, without control characters", async () => {
  const objects = [...MESH, namespace({ "istio-injection": "enabled" }), deployment({ [INJECT]: "\u001b[31mno" })];
  const explanation = await explained(objects);
  const text = explanationText(explanation, LOOK);
  assert.match(
    text,
    /^deployment\.apps\/web in the namespace "shop": injected by\s+istio-sidecar-injector\/namespace\./,
  );
  assert(!text.includes("\u001b"));
  const json = EXPLANATION.parse(JSON.parse(explanationJson(explanation)));
  assert.deepEqual(Object.keys(json).slice(0, 7), [
    "workload",
    "verdict",
    "injected",
    "by",
    "reason",
    "rules",
    "live",
  ]);
  assert.deepEqual(Object.keys(json.rules[0] ?? {}).slice(0, 4), ["rule", "field", "value", "effect"]);
});

Deno.test("check injection: manifests without a cluster, and names that need quotes", async () => {
  const manifest = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Service, metadata: {name: web}}
- apiVersion: v1
  kind: Pod
  metadata: {name: "web; rm -rf", annotations: {${INJECT}: "false"}}
  spec: {containers: [{name: app, image: app}]}
`;
  const inputs = [{
    file: "web.yaml",
    async *chunks() {
      yield await Promise.resolve(new TextEncoder().encode(manifest));
    },
  }];
  const question = { inputs, namespace: "shop", choice: {}, configuration: {} };
  const [explanation, ...more] = await explainInjection(fakeWorld(), undefined, question);
  assert.deepEqual(more, []);
  assert.equal(explanation?.reason, "annotation-inject-false");
  assert(explanation !== undefined);
  assert.deepEqual(shownOf(explanation), [`fix: remove "${INJECT}" from metadata.annotations in web.yaml`]);
  assert.deepEqual(EXPLANATION.parse(JSON.parse(explanationJson(explanation))).fix, [
    `remove "${INJECT}" from metadata.annotations in web.yaml`,
  ]);
});

Deno.test("check injection of all workloads: a line for each, except for objects with a controller", async () => {
  const owned = { ownerReferences: [{ kind: "CronJob", name: "report" }] };
  const shop = [namespace({ "istio-injection": "enabled" }), deployment(), deployment({ [INJECT]: "false" })];
  const objects = [
    ...MESH,
    ...shop.map((each, index) => index < 2 ? each : { ...each, metadata: { ...each.metadata, name: "out" } }),
    livePod("web-5d4-1"),
    object("batch/v1", "Job", "shop/report-1", { metadata: owned }),
    object("v1", "Namespace", "empty"),
    object("v1", "Namespace", "plain"),
    object("v1", "Pod", "plain/single", { spec: { containers: [APP] } }),
  ];
  const api = clusterApi({ objects, dryRun: injected });
  const explain = (all: InjectionQuestion["all"]) =>
    explainInjection(fakeWorld(), api, { all, namespace: "default", choice: {}, configuration: {} });
  const everything = await explain({ namespace: undefined });
  assert.deepEqual(everything.map(({ workload, verdict }) => [workload, verdict]), [
    ["pod/single", "not-injected"],
    ["deployment.apps/out", "not-injected"],
    ["deployment.apps/web", "injected"],
  ]);
  const lines = overviewText(await explain({ namespace: "shop" }), LOOK).split("\n");
  assert.match(lines[0] ?? "", /^NAMESPACE +WORKLOAD +VERDICT +CAUSE$/);
  assert.match(lines[1] ?? "", /^shop +deployment\.apps\/out +not injected +label "sidecar/);
  assert.match(lines[2] ?? "", /^ {46}"false"$/);
  assert.match(lines[3] ?? "", /^shop +deployment\.apps\/web +injected +the policy is "enabled"; 1 live/);
  assert(lines.every((line) => line.length <= 80));
  // Its longest word, "sidecar.istio.io/inject", is longer than the column of causes would be.
  const narrow = overviewText(await explain({ namespace: "shop" }), { ...LOOK, width: 70 }).split("\n");
  assert.match(narrow[3] ?? "", /^ {4}label "sidecar/);
  assert(narrow.every((line) => line.length <= 70));
  const wide = overviewText(await explain({ namespace: "shop" }), { ...LOOK, isWide: true }).split("\n");
  assert.match(wide[0] ?? "", /^NAMESPACE +WORKLOAD +VERDICT +BY +CAUSE +FIX$/);
  assert.match(wide[1] ?? "", / +kubectl patch deployment\/out -n shop /);
  assert.match(
    wide[2] ?? "",
    / +istio-sidecar-injector\/namespace\.sidecar-injector\.istio\.io +.* +kubectl rollout restart deployment\/web -n shop$/,
  );
  const blocks = overviewText(await explain({ namespace: "shop" }), { ...LOOK, isWide: true, tableWidth: 80 });
  assert.match(blocks, /^shop\n {2}workload +deployment\.apps\/out\n {2}verdict +not injected\n/);
  const selector = labelChoice("app=web", "-l");
  await assert.rejects(explain({ namespace: undefined, selector }), /No workload has the labels "app=web"/);
  await assert.rejects(explain({ namespace: "empty" }), /There is no workload in the namespace "empty"/);
  await assert.rejects(explain({ namespace: "shpo" }), /There is no namespace "shpo"/);
  const blind = clusterApi({ objects, forbidden: /cronjobs/ });
  await assert.rejects(
    explainInjection(fakeWorld(), blind, { all: { namespace: "shop" }, namespace: "", choice: {}, configuration: {} }),
  );
});

Deno.test("check injection of all workloads reads webhooks and control planes once, and runs dry runs side by side", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `team-${String(index).padStart(2, "0")}`);
  const spec = { template: { metadata: {}, spec: { containers: [APP] } } };
  const objects = [
    ...MESH,
    ...names.map((name) => object("v1", "Namespace", name, { metadata: { labels: { "istio-injection": "enabled" } } })),
    ...names.flatMap((name) => ["a", "b"].map((app) => object("apps/v1", "Deployment", `${name}/${app}`, { spec }))),
  ];
  let [inFlight, most] = [0, 0];
  const dryRun = async () => {
    most = Math.max(most, ++inFlight);
    await new Promise((resolve) => setTimeout(resolve));
    inFlight--;
    return injected();
  };
  const api = clusterApi({ objects, dryRun });
  const question = { all: { namespace: undefined }, namespace: "default", choice: {}, configuration: {} };
  const found = await explainInjection(fakeWorld(), api, question);
  assert.deepEqual(
    found.map((each) => `${each.namespace} ${each.workload} ${each.verdict}`),
    names.flatMap((name) => ["a", "b"].map((app) => `${name} deployment.apps/${app} injected`)),
  );
  const repeated = api.requests.filter((each, index) => api.requests.indexOf(each) !== index);
  assert.deepEqual(repeated.filter((each) => !each.startsWith("create ")), []);
  assert.equal(most, 8);
});
