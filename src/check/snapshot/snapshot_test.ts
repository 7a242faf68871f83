import assert from "node:assert/strict";
import { clusterApi, type ClusterOptions, object } from "../../../test/support/kube/cluster.ts";
import { meshWebhooks } from "../../../test/support/kube/mesh_webhooks.ts";
import { ApiError, type KubeObject } from "../../kube/client/mod.ts";
import { snapshotIn, snapshotText } from "../../inject/mod.ts";
import { snapshotInjection, type SnapshotQuestion } from "./snapshot.ts";
import { snapshotApi } from "./snapshot_api.ts";

const NO_PROGRESS = { at: () => {}, now: () => {} };

const QUESTION: SnapshotQuestion = { controlPlane: { istioNamespace: "istio-system" }, namespaces: [] };

function configMap(name: string, data: Record<string, string>): KubeObject {
  return object("v1", "ConfigMap", `istio-system/${name}`, { data });
}

function node(name: string, kubeletVersion: string): KubeObject {
  return object("v1", "Node", name, { status: { nodeInfo: { kubeletVersion }, images: [] } });
}

const OBJECTS: readonly KubeObject[] = [
  configMap("istio", { mesh: "trustDomain: a\n", other: "not read" }),
  configMap("istio-sidecar-injector", { config: "policy: enabled\n", values: "{}" }),
  configMap("istio-canary", { mesh: "" }),
  configMap("istio-sidecar-injector-canary", { config: "policy: enabled\n", values: "{}" }),
  configMap("istio-ca-root-cert", { "root-cert.pem": "" }),
  ...meshWebhooks({ revision: "canary", tags: ["prod"] }),
  object("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "other", { webhooks: [] }),
  object("v1", "Namespace", "shop", { metadata: { labels: { "istio.io/rev": "prod" } } }),
  object("v1", "Namespace", "istio-system"),
  node("a", "v1.34.1"),
  node("b", "v1.33.0"),
];

async function taken(options: Partial<ClusterOptions> = {}, question: Partial<SnapshotQuestion> = {}) {
  const api = clusterApi({ objects: OBJECTS, ...options });
  return await snapshotInjection(api, { ...QUESTION, ...question }, NO_PROGRESS);
}

Deno.test("a snapshot has the configuration of every revision, webhooks, labels and versions, and nothing else", async () => {
  const { objects, kubeletVersions, unreadable, withheld } = await taken();
  const names = objects.map(({ kind, metadata: { name } }) => `${kind}/${name}`).sort();
  assert.deepEqual(names.filter((name) => !name.startsWith("Mutating")), [
    "ConfigMap/istio",
    "ConfigMap/istio-canary",
    "ConfigMap/istio-sidecar-injector",
    "ConfigMap/istio-sidecar-injector-canary",
    "Namespace/istio-system",
    "Namespace/shop",
  ]);
  assert.equal(names.filter((name) => name.startsWith("Mutating")).length, 2);
  assert.deepEqual(objects.find(({ metadata }) => metadata.name === "istio")?.["data"], { mesh: "trustDomain: a\n" });
  assert.deepEqual(kubeletVersions, ["v1.33.0", "v1.34.1"]);
  assert.deepEqual([unreadable, withheld], [[], []]);
  assert(!JSON.stringify(objects).includes("caBundle"));
});

Deno.test("names of nodes are kept only where some kubelets are too old", async () => {
  const objects = [...OBJECTS, node("old", "v1.30.0")];
  assert.deepEqual((await taken({ objects })).kubeletVersions, { a: "v1.34.1", b: "v1.33.0", old: "v1.30.0" });
  const old = OBJECTS.filter(({ kind }) => kind !== "Node").concat(node("old", "v1.30.0"));
  assert.deepEqual((await taken({ objects: old })).kubeletVersions, ["v1.30.0"]);
});

Deno.test("the same bytes for the same state, in any order of objects", async () => {
  const text = snapshotText(await taken());
  assert.equal(snapshotText(await taken({ objects: OBJECTS.toReversed() })), text);
});

Deno.test("secrets in values and mesh configuration are replaced and named", async () => {
  const mesh = "defaultConfig:\n  tracing:\n    lightstep: {accessToken: s3cret, address: a:1}\n";
  const values = "global:\n  imagePullSecrets: [regcred]\n  proxy: {password: s3cret}\n";
  const objects = [
    configMap("istio", { mesh }),
    configMap("istio-sidecar-injector", { config: "policy: enabled\n", values }),
  ];
  const snapshot = await taken({ objects });
  assert(!snapshotText(snapshot).includes("s3cret"));
  assert(snapshotText(snapshot).includes("regcred"));
  assert.deepEqual(snapshot.withheld.toSorted(), [
    "configmap/istio-system/istio-sidecar-injector: values",
    "configmap/istio-system/istio: mesh",
  ]);
});

Deno.test("forbidden reads are listed in order; other failures are errors", async () => {
  const forbidden = /nodes|namespaces$/;
  const { unreadable, kubeletVersions } = await taken({ forbidden });
  assert.deepEqual(unreadable.map(({ needs }) => needs), ["list on namespaces", "list on nodes"]);
  assert.equal(kubeletVersions, undefined);
  await assert.rejects(
    taken({ forbidden: /./ }),
    /^MeshError: No part of the injection configuration can be read; missing rights: get on configmaps/,
  );
  const failing = (path: string) => /nodes/.test(path) ? new ApiError("Cannot reach the server") : undefined;
  await assert.rejects(taken({ failing }), /Cannot reach the server/);
});

Deno.test("if webhooks are forbidden, revisions come from the ConfigMaps of the namespace", async () => {
  const { objects, unreadable } = await taken({ forbidden: /mutating/ });
  assert(objects.some(({ metadata }) => metadata.name === "istio-sidecar-injector-canary"));
  assert.deepEqual(unreadable.map(({ resource }) => resource), ["mutatingwebhookconfigurations"]);
});

Deno.test("a snapshot has only the named namespaces; an unknown name is an error", async () => {
  const { objects, namespaces } = await taken({ forbidden: /namespaces$/ }, { namespaces: ["shop"] });
  assert.deepEqual(namespaces, ["shop"]);
  assert.deepEqual(objects.filter(({ kind }) => kind === "Namespace").map(({ metadata }) => metadata.name), ["shop"]);
  await assert.rejects(taken({}, { namespaces: ["nowhere"] }), /There is no namespace "nowhere"/);
});

Deno.test("a cluster without an injector is an error", async () => {
  await assert.rejects(taken({ objects: [] }), /The ConfigMap "istio-sidecar-injector" does not exist/);
});

Deno.test("the API of a snapshot gives the same answers as its cluster", async () => {
  const forbidden = /nodes|namespaces\/shop$/;
  const live = clusterApi({ objects: OBJECTS, forbidden });
  const question = { ...QUESTION, namespaces: ["shop", "istio-system"] };
  const snapshot = snapshotIn({ text: snapshotText(await snapshotInjection(live, question, NO_PROGRESS)), file: "c" });
  assert(snapshot !== undefined);
  const api = snapshotApi(snapshot, "c");
  const maps = "/api/v1/namespaces/istio-system/configmaps";
  for (const path of [`${maps}/istio-canary`, `${maps}/nothing`, "/api/v1/namespaces/istio-system"]) {
    assert.equal((await api.get(path))?.metadata.name, (await live.get(path))?.metadata.name, path);
  }
  const webhooks = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
  assert.equal((await api.list(webhooks)).items.length, 2);
  await assert.rejects(api.get("/api/v1/namespaces/shop"), { status: 403 });
  await assert.rejects(api.list("/api/v1/nodes"), { status: 403 });
  await assert.rejects(api.create("/api/v1/namespaces", {}), /cannot be changed/);
});

Deno.test("the ConfigMap of this program's webhook is found without the right to read webhooks; nothing at all is an error", async () => {
  const map = (name: string, data: Record<string, string>) =>
    object("v1", "ConfigMap", `istio-system/${name}`, { data });
  const question = { controlPlane: { istioNamespace: "istio-system" }, namespaces: [] };
  const of = (objects: readonly KubeObject[]) =>
    snapshotInjection(clusterApi({ objects, forbidden: /mutating/ }), question, NO_PROGRESS);
  const own = [map("kubectl-mesh-webhook", { config: "C" }), map("kubectl-mesh-webhook-next", { config: "D" })];
  const { objects } = await of(own);
  assert.deepEqual(objects.map(({ metadata }) => metadata.name), ["kubectl-mesh-webhook", "kubectl-mesh-webhook-next"]);
  await assert.rejects(of([map("other", {})]), /The ConfigMap "istio-sidecar-injector" does not exist/);
});
