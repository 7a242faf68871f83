import assert from "node:assert/strict";
import type { KubeObject } from "../../kube/client/api.ts";
import type { Value } from "../../base/value.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { type InjectionSnapshot, revisionsIn, snapshotConfiguration, snapshotIn, snapshotText } from "./snapshot.ts";
import { configurationOf } from "./sources.ts";

function map(name: string, data: Record<string, string>): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "istio-system" }, data };
}

const TAG: KubeObject = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  metadata: { name: "tag", labels: { "istio.io/rev": "canary", "istio.io/tag": "prod" } },
  webhooks: [{
    name: "a.istio.io",
    timeoutSeconds: 10,
    clientConfig: { service: { namespace: "a", name: "b", port: 443 } },
  }],
};

const CONFIG: InjectionSnapshot = {
  namespaces: [],
  controlPlane: { istioNamespace: "istio-system" },
  objects: [
    map("istio-sidecar-injector-canary", { config: "policy: enabled\ntemplates: {}\n", values: "global: {}\n" }),
    map("istio-canary", { mesh: "trustDomain: canary\n" }),
    map("istio-sidecar-injector", { config: "policy: enabled\n" }),
    map("istio", { mesh: "trustDomain: default\n" }),
    TAG,
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: { "istio.io/rev": "1" } } },
  ],
  kubeletVersions: ["v1.34.0"],
  unreadable: [{ resource: "nodes", needs: "list on nodes" }],
  withheld: ["configmap/istio-system/istio: mesh"],
};

const TEXT = snapshotText(CONFIG);

function read(text: string): InjectionSnapshot | undefined {
  return snapshotIn({ text, file: "c.yaml" });
}

Deno.test("snapshotText() is what snapshotIn() reads, and does not depend on the order of objects", () => {
  const found = read(TEXT);
  assert(found !== undefined);
  assert.equal(snapshotText(found), TEXT);
  assert.equal(snapshotText({ ...CONFIG, objects: CONFIG.objects.toReversed() }), TEXT);
  assert.deepEqual(found.unreadable, CONFIG.unreadable);
  assert.deepEqual(found.kubeletVersions, ["v1.34.0"]);
  assert.equal(read(snapshotText({ ...CONFIG, kubeletVersions: undefined }))?.kubeletVersions, undefined);
  const byName = read(snapshotText({ ...CONFIG, kubeletVersions: { a: "v1.30.0", b: "v1.34.0" } }));
  assert.deepEqual({ ...byName }.kubeletVersions, { a: "v1.30.0", b: "v1.34.0" });
});

Deno.test("snapshotIn() reads JSON too, and nothing that is no snapshot", () => {
  assert.equal(read(JSON.stringify(numbers(parseYaml(TEXT, ""))))?.objects.length, 6);
  for (const text of ["", "policy: enabled\n", "# InjectionSnapshot\npolicy: enabled\n", "{{ InjectionSnapshot }}"]) {
    assert.equal(read(text), undefined, text);
  }
});

Deno.test("snapshotIn() refuses another shape, and names the field", () => {
  const wrong: readonly (readonly [from: string, to: string, message: RegExp])[] = [
    ["name: istio-canary", "name: 1", /"objects\[1\]\.metadata\.name" must be a string/],
    ["- v1.34.0", "- 1", /"kubeletVersions" must be a mapping|"kubeletVersions\[0\]" must be a string/],
    ["mesh: |\n      trustDomain: canary", "mesh: {}", /"objects\[1\]\.data\.mesh" must be a string/],
    ["name: a.istio.io", "rules: {}", /"objects\[4\]\.webhooks\[0\]\.name" must be a string/],
    ["controlPlane:", "controlPlane: []\nother:", /"controlPlane" must be a mapping/],
  ];
  for (const [from, to, message] of wrong) {
    assert(TEXT.includes(from), from);
    const text = TEXT.replace(from, to);
    assert.throws(() => read(text), message);
  }
});

Deno.test("a revision, a tag, or an error that names what is there", () => {
  const trust = (name?: string) => snapshotConfiguration(CONFIG, name).mesh.text;
  assert.equal(trust(), "trustDomain: default\n");
  assert.equal(trust("canary"), "trustDomain: canary\n");
  assert.equal(trust("prod"), "trustDomain: canary\n");
  assert.equal(snapshotConfiguration(CONFIG, "prod").revision, "canary");
  assert.deepEqual(revisionsIn(CONFIG), ["canary", "default"]);
  assert.throws(() => snapshotConfiguration(CONFIG, "x"), { hint: 'available revisions: "canary", "default"' });
  const needs = 'get on configmaps in the namespace "istio-system"';
  const unread = { ...CONFIG, objects: [], unreadable: [{ resource: "configmaps", needs }] };
  assert.throws(() => snapshotConfiguration(unread), {
    hint: `available revisions: none; the snapshot was written without the permission ${needs}`,
  });
});

Deno.test("the user's values and mesh configuration come before a snapshot", () => {
  const config = { text: TEXT, file: "c.yaml" };
  const given = configurationOf({ config, revision: "prod", mesh: { text: "trustDomain: mine", file: "mesh" } });
  assert.deepEqual([given.revision, given.mesh?.text, given.values?.text], [
    "canary",
    "trustDomain: mine",
    "global: {}\n",
  ]);
});

/** Converts bigints to numbers, which are JSON's only number type. */
function numbers(value: Value): Value {
  return JSON.parse(JSON.stringify(value, (_key, item) => typeof item === "bigint" ? Number(item) : item));
}

Deno.test("a snapshot with the ConfigMap of this program's webhook alone has its configuration", () => {
  const own = { ...CONFIG, objects: [map("kubectl-mesh-webhook-next", { config: "policy: enabled\n" })] };
  assert.deepEqual(revisionsIn(own), ["next"]);
  const { config, mesh, revision } = snapshotConfiguration(own, "next");
  assert.deepEqual([config.text, mesh.text, revision], ["policy: enabled\n", "", "next"]);
});
