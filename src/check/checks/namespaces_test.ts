import assert from "node:assert/strict";
import type { KubeObject } from "../../kube/client/mod.ts";
import { clusterApi, clusterInventory, object } from "../../../test/support/kube/cluster.ts";
import { meshObjects, meshWebhooks } from "../../../test/support/kube/mesh_webhooks.ts";
import { shownText } from "../../../test/support/kube/shown.ts";
import { BUILT_IN } from "../../inject/mod.ts";
import { inventoryOf } from "../inventory/mod.ts";
import { ALL_CHECKS } from "./all.ts";
import { NAMESPACE_CHECKS } from "./namespaces.ts";
import { findingFor } from "../../../test/support/kube/finding.ts";
import { judge } from "../run.ts";
import type { Value } from "../../base/value.ts";

const WEBHOOKS = [...meshWebhooks(), ...meshWebhooks({ revision: "canary", tags: ["prod"] })];

function namespace(labels: Record<string, string>): KubeObject {
  return object("v1", "Namespace", "shop", { metadata: { labels } });
}

const PULL = BUILT_IN.values.replace("imagePullSecrets: []", "imagePullSecrets: [registry]");

/** Returns the control plane's ConfigMap with this mesh configuration and these values. */
function plane(mesh: string, values?: string): readonly KubeObject[] {
  return meshObjects().filter(({ kind }) => kind === "ConfigMap").map((map) => {
    return { ...map, data: { ...Object(map["data"]), mesh, ...values === undefined ? {} : { values } } };
  });
}

function pod(labels: Record<string, string>, containers: string[]): KubeObject {
  const spec = { containers: containers.map((name) => ({ name })) };
  return object("v1", "Pod", "shop/web", { metadata: { labels }, spec });
}

/** A pod of the controller `byHand`. */
function owned(containers: string[]): KubeObject {
  const spec = { containers: containers.map((name) => ({ name })) };
  const ownerReferences = [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "web", controller: true }];
  return object("v1", "Pod", "shop/web-0", { metadata: { generateName: "web-", ownerReferences }, spec });
}

/** A controller whose manifest contains a proxy with this image. */
function byHand(image: string): KubeObject {
  const containers = [{ name: "app", image: "app:1" }, { name: "istio-proxy", image }];
  return object("apps/v1", "StatefulSet", "shop/web", { spec: { template: { spec: { containers } } } });
}

async function found(id: string, objects: readonly KubeObject[]) {
  const finding = await findingFor(id, clusterInventory({ objects }));
  return { result: finding.result, message: await shownText(finding) };
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly objects: readonly KubeObject[];
  readonly result: string;
  readonly says?: RegExp;
}

const ROWS: readonly Row[] = [
  {
    id: "namespace-label-values",
    name: "enabled",
    objects: [namespace({ "istio-injection": "enabled" })],
    result: "ok",
  },
  {
    id: "namespace-label-values",
    name: "enable",
    objects: [namespace({ "istio-injection": "enable" })],
    result: "error",
    says:
      /fix: remove the label:\nkubectl .* istio-injection-\nor: correct the label:\nkubectl .*istio-injection=enabled --overwrite$/,
  },
  {
    id: "namespace-label-values",
    name: "enable where pods have proxies",
    objects: [namespace({ "istio-injection": "enable" }), pod({}, ["istio-proxy"])],
    result: "error",
    says: /\nfix: correct the label:\nkubectl label namespace shop istio-injection=enabled --overwrite$/,
  },
  {
    id: "namespace-label-values",
    name: "False",
    objects: [namespace({ "istio-injection": "False" })],
    result: "error",
    says: /istio-injection=disabled --overwrite/,
  },
  {
    id: "namespace-label-values",
    name: "a key that nothing reads",
    objects: [namespace({ "istio-injections": "enabled" })],
    result: "warning",
    says: /did you mean "istio-injection"/,
  },
  ...["istio-injected", "istio.io/revision", "sidecar.istio.io/inject"].map((key) => ({
    id: "namespace-label-values",
    name: `the near miss ${key}`,
    objects: [namespace({ [key]: "enabled" })],
    result: "warning",
    says: new RegExp(`the label "${key}" has no effect; did you mean "istio`),
  })),
  {
    id: "namespace-one-mode",
    name: "ambient and sidecars",
    objects: [namespace({ "istio-injection": "enabled", "istio.io/dataplane-mode": "ambient" })],
    result: "warning",
    says: /\nfix: stop using ambient mode:\nkubectl label namespace shop istio\.io\/dataplane-mode-\nor: /,
  },
  {
    id: "namespace-one-mode",
    name: "ambient alone",
    objects: [namespace({ "istio-injection": "disabled", "istio.io/dataplane-mode": "ambient" })],
    result: "ok",
  },
  {
    id: "namespace-discovered",
    name: "selectors that leave the namespace out",
    objects: [
      namespace({ "istio-injection": "enabled" }),
      ...plane("discoverySelectors: [{matchLabels: {mesh: other}}]"),
    ],
    result: "error",
    says: /no discoverySelectors of configmap\/istio-system\/kubectl-mesh-webhook match it/,
  },
  {
    id: "namespace-discovered",
    name: "a selector that matches",
    objects: [
      namespace({ "istio-injection": "enabled", mesh: "in" }),
      ...plane("discoverySelectors: [{matchLabels: {mesh: in}}]"),
    ],
    result: "ok",
  },
  {
    id: "namespace-root-cert",
    name: "no ConfigMap",
    objects: [namespace({ "istio-injection": "enabled" }), ...plane("")],
    result: "error",
    says: /it has no ConfigMap "istio-ca-root-cert"/,
  },
  {
    id: "namespace-root-cert",
    name: "the ConfigMap",
    objects: [
      namespace({ "istio-injection": "enabled" }),
      ...plane(""),
      object("v1", "ConfigMap", "shop/istio-ca-root-cert", { data: {} }),
    ],
    result: "ok",
  },
  {
    id: "namespace-pull-secrets",
    name: "no Secret",
    objects: [namespace({ "istio-injection": "enabled" }), ...plane("", PULL)],
    result: "error",
    says: /it has no Secret "registry" for .*\nfix: .*\nkubectl create secret generic registry -n shop .*=FILE$/,
  },
  {
    id: "namespace-pull-secrets",
    name: "the Secret",
    objects: [
      namespace({ "istio-injection": "enabled" }),
      ...plane("", PULL),
      object("v1", "Secret", "shop/registry", { data: {} }),
    ],
    result: "ok",
  },
  {
    id: "namespace-pull-secrets",
    name: "values without pull secrets",
    objects: [namespace({ "istio-injection": "enabled" }), ...plane("")],
    result: "ok",
  },
  {
    id: "namespace-root-cert",
    name: "no configuration of the control plane",
    objects: [namespace({ "istio-injection": "enabled" })],
    result: "unknown",
  },
  {
    id: "namespace-one-label",
    name: "both",
    objects: [namespace({ "istio-injection": "enabled", "istio.io/rev": "canary" })],
    result: "warning",
    says: /\nfix: remove istio\.io\/rev:\nkubectl label namespace shop istio\.io\/rev-\nor: /,
  },
  { id: "namespace-one-label", name: "one", objects: [namespace({ "istio.io/rev": "canary" })], result: "ok" },
  {
    id: "namespace-revision-served",
    name: "a revision",
    objects: [namespace({ "istio.io/rev": "canary" })],
    result: "ok",
  },
  { id: "namespace-revision-served", name: "a tag", objects: [namespace({ "istio.io/rev": "prod" })], result: "ok" },
  {
    id: "namespace-revision-served",
    name: "a revision of nobody",
    objects: [namespace({ "istio.io/rev": "1-9" })],
    result: "error",
    says: /no webhook serves istio.io\/rev=1-9; served: istio-injection=enabled or .*istio.io\/rev=prod/,
  },
  {
    id: "namespace-labelled",
    name: "nobody is in the mesh",
    objects: [namespace({})],
    result: "warning",
    says:
      /^no namespace is labeled for injection\nfix: label the pod template .*\nor: see first .*\n.*\nor: inject a whole namespace:\nkubectl/,
  },
  {
    id: "namespace-labelled",
    name: "a proxy without a label",
    objects: [namespace({}), pod({}, ["app", "istio-proxy"])],
    result: "warning",
    says:
      /^namespace\/shop: .*\nfix: label the namespace again:\nkubectl label namespace shop istio-injection=enabled$/,
  },
  {
    id: "namespace-labelled",
    name: "a proxy that the manifest contains",
    objects: [namespace({}), byHand("app:1"), owned(["app", "istio-proxy"])],
    result: "ok",
  },
  {
    id: "namespace-labelled",
    name: "a proxy without a label, whose manifest leaves the image to the webhook",
    objects: [namespace({}), byHand("auto"), owned(["app", "istio-proxy"])],
    result: "warning",
    says: /so new pods get no proxy/,
  },
  { id: "namespace-labelled", name: "labelled", objects: [namespace({ "istio.io/rev": "prod" })], result: "ok" },
  {
    id: "namespace-pod-revisions",
    name: "a pod that names another",
    objects: [namespace({ "istio-injection": "enabled" }), pod({ "istio.io/rev": "canary" }, ["app"])],
    result: "warning",
    says: /pod\/shop\/web: its label istio.io\/rev=canary has no effect/,
  },
  {
    id: "namespace-pod-revisions",
    name: "a pod that was given the label by injection",
    objects: [namespace({ "istio-injection": "enabled" }), pod({ "istio.io/rev": "default" }, ["app"])],
    result: "ok",
  },
];

for (const { id, name, objects, result, says = /^/ } of ROWS) {
  Deno.test(`${id}: ${name}`, async () => {
    const finding = await found(id, [...WEBHOOKS, ...objects]);
    assert.equal(finding.result, result, finding.message);
    assert.match(finding.message, says);
  });
}

Deno.test("namespace-revision-served: with pods in the mesh, removing the label is the last fix", async () => {
  const unselected = WEBHOOKS.map((each) => ({ ...each, webhooks: selectingNobody(each["webhooks"]) }));
  const injected = [namespace({ "istio-injection": "enabled" }), pod({}, ["app", "istio-proxy"])];
  const { result, message } = await found("namespace-revision-served", [...unselected, ...injected]);
  assert.equal(result, "warning", message);
  assert.match(message, /\nfix: install the control plane again, .*\nor: see first .*\n.*\nor: remove the label:\n/);
});

function selectingNobody(webhooks: Value | undefined): Value {
  if (!Array.isArray(webhooks)) throw new Error("a configuration has no webhooks");
  return webhooks.map((each) => ({ ...Object(each), namespaceSelector: { matchLabels: { nobody: "here" } } }));
}

Deno.test("namespaces: forbidden lists are unknown", async () => {
  for (const check of NAMESPACE_CHECKS) {
    const finding = await judge(check, clusterInventory({ objects: WEBHOOKS, forbidden: /namespaces$/ }));
    assert.deepEqual(finding, {
      result: "unknown",
      message: "cannot tell: needs list on namespaces",
      missingRight: "list on namespaces",
    });
  }
});

Deno.test("namespaces: the root certificate is listed once, or asked in each without that right", async () => {
  const other = object("v1", "Namespace", "other", { metadata: { labels: { "istio-injection": "enabled" } } });
  const there = object("v1", "ConfigMap", "other/istio-ca-root-cert", { data: {} });
  const objects = [...WEBHOOKS, ...plane(""), namespace({ "istio-injection": "enabled" }), other, there];
  const requestsWith = async (forbidden?: RegExp) => {
    const api = clusterApi({ objects, ...forbidden && { forbidden } });
    const clock = { now: () => new Date(), monotonic: () => 0, sleep: () => Promise.resolve() };
    const scope = { namespace: undefined, istioNamespace: "istio-system", revision: undefined };
    const finding = await findingFor("namespace-root-cert", inventoryOf({ api, clock, scope }));
    assert.deepEqual([finding.result, finding.objects], ["error", ["namespace/shop"]]);
    return api.requests.filter((request) => request.endsWith("/istio-ca-root-cert")).sort();
  };
  const list = "list /api/v1/configmaps/istio-ca-root-cert";
  assert.deepEqual(await requestsWith(), [list]);
  const single = ["istio-system", "other", "shop"].map((name) =>
    `get /api/v1/namespaces/${name}/configmaps/istio-ca-root-cert`
  );
  assert.deepEqual(await requestsWith(/^\/api\/v1\/configmaps\//), [...single, list]);
});

Deno.test("namespaces: the scope excludes others", async () => {
  const objects = [...WEBHOOKS, namespace({ "istio-injection": "enable" })];
  assert.deepEqual(await findingFor("namespace-label-values", clusterInventory({ objects }, { namespace: "other" })), {
    result: "ok",
  });
});

Deno.test("namespaces: with --namespace the right to get it is enough, and nothing outside it is listed", async () => {
  const objects = [...WEBHOOKS, namespace({ "istio-injection": "enable" }), pod({}, ["app"])];
  const api = clusterApi({ objects, forbidden: /namespaces$|^\/api\/v1\/pods/ });
  const clock = { now: () => new Date(), monotonic: () => 0, sleep: () => Promise.resolve() };
  const scope = { namespace: "shop", istioNamespace: "istio-system", revision: undefined };
  const inventory = inventoryOf({ api, clock, scope });
  assert.equal((await findingFor("namespace-label-values", inventory)).result, "error");
  for (const each of ALL_CHECKS) await judge(each, inventory);
  const elsewhere = api.requests.filter((request) => {
    const [, name] = /namespaces\/([^/]+)/.exec(request) ?? [];
    return name !== undefined && name !== "shop" && !/^(get|list) .*\/istio-system/.test(request);
  });
  assert.deepEqual(elsewhere, []);
  assert.deepEqual(api.requests.filter((request) => /^list .*\/(pods|namespaces)$/.test(request)), [
    "list /api/v1/namespaces/shop/pods",
  ]);
});

Deno.test("namespace-labelled: with --namespace only that namespace is reported, and the control plane's needs no label", async () => {
  const labelled = object("v1", "Namespace", "other", { metadata: { labels: { "istio-injection": "enabled" } } });
  const objects = [...WEBHOOKS, labelled, namespace({}), object("v1", "Namespace", "istio-system")];
  const shownOf = async (name: string) => {
    const clock = { now: () => new Date(), monotonic: () => 0, sleep: () => Promise.resolve() };
    const scope = { namespace: name, istioNamespace: "istio-system", revision: undefined };
    const finding = await findingFor("namespace-labelled", inventoryOf({ api: clusterApi({ objects }), clock, scope }));
    return `${finding.result}: ${await shownText(finding)}`;
  };
  assert.match(
    await shownOf("shop"),
    /^warning: the namespace "shop" is not labeled for injection\n.*\n(.*\n)*or: inject a whole namespace:\nkubectl label namespace shop istio-injection=enabled$/,
  );
  assert.match(await shownOf("other"), /^ok: /);
  assert.match(await shownOf("istio-system"), /^skipped: the namespace "istio-system" must not have sidecars/);
});

Deno.test("namespaces: no advice enables injection in the namespace of the control plane", async () => {
  const labelled = (labels: Record<string, string>) =>
    object("v1", "Namespace", "istio-system", { metadata: { labels } });
  const gateway = object("v1", "Pod", "istio-system/gateway", { spec: { containers: [{ name: "istio-proxy" }] } });
  const settings = [{}, { "istio-injection": "enable" }, { "istio-injection": "enabled" }, { "istio.io/rev": "gone" }];
  for (const labels of settings) {
    for (const { id } of NAMESPACE_CHECKS) {
      const { message } = await found(id, [
        ...WEBHOOKS,
        namespace({ "istio.io/rev": "prod" }),
        labelled(labels),
        gateway,
      ]);
      assert.doesNotMatch(message, /label namespace istio-system [^\n]*=/, `${id} ${JSON.stringify(labels)}`);
    }
  }
});
