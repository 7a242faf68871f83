import assert from "node:assert/strict";
import { clusterApi, type ClusterOptions, object } from "../../../test/support/kube/cluster.ts";
import { meshObjects } from "../../../test/support/kube/mesh_webhooks.ts";
import type { KubeObject } from "../../kube/client/mod.ts";
import type { ValueMap } from "../../base/value.ts";
import { BUILT_IN, configurationOf, injectPod, newInjector, podOwner } from "../../inject/mod.ts";
import { inventoryOf } from "../inventory/mod.ts";
import { planeOf } from "./next_injector.ts";
import { upgradeJson, upgradeText } from "./print.ts";
import { upgradeOf, type UpgradeQuestion } from "./upgrade.ts";
import { UPGRADE, type Upgrade } from "./upgrade_schema.ts";

const INJECTOR = newInjector({
  ...configurationOf({}),
  revision: "default",
  byHand: false,
  env: () => undefined,
  now: () => new Date(),
});

const TEMPLATE = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "app", image: "app:1" }] } };

function deployment(name: string): KubeObject {
  return object("apps/v1", "Deployment", `shop/${name}`, { spec: { template: TEMPLATE } });
}

/** A running pod of a Deployment, as its webhook made it. */
function pod(deployment: string, number: number, change: (spec: string) => string = (spec) => spec): KubeObject {
  const hash = "7d4b9c5f6";
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: `${deployment}-${hash}`, controller: true };
  const name = `${deployment}-${hash}-${number}`;
  const plain = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "shop",
      generateName: `${deployment}-${hash}-`,
      labels: { app: "web", "pod-template-hash": hash },
      ownerReferences: [owner],
    },
    spec: { ...TEMPLATE.spec, nodeName: "node-1" },
  };
  const { metadata, spec } = injectPod(plain, podOwner(plain, "shop"), INJECTOR).pod;
  const stored: ValueMap = JSON.parse(
    change(JSON.stringify(spec, (_key, each) => typeof each === "bigint" ? Number(each) : each)),
  );
  return object("v1", "Pod", `shop/${name}`, { metadata: metadata ?? {}, spec: stored, status: { phase: "Running" } });
}

const SCOPE = { namespace: undefined, istioNamespace: "istio-system", revision: undefined };
const CLOCK = { now: () => new Date(), monotonic: () => 0, sleep: () => Promise.resolve() };
const CONFIG = { text: BUILT_IN.config, file: "injector.yaml" };

/** Returns changed built-in values as a whole file. With a configuration, a file replaces all built-in values. */
function values(change: (text: string) => string): { readonly text: string; readonly file: string } {
  return { text: change(BUILT_IN.values), file: "values.yaml" };
}

async function upgrade(options: ClusterOptions, question: Partial<UpgradeQuestion> = {}): Promise<Upgrade> {
  const asked = {
    to: { files: { config: CONFIG } },
    name: "injector.yaml",
    namespace: undefined,
    selector: undefined,
    nativeSidecars: undefined,
    ...question,
  };
  const api = clusterApi({ ...options, objects: [...meshObjects(), ...options.objects ?? []] });
  return UPGRADE.parse(await upgradeOf({ api, clock: CLOCK, scope: SCOPE }, asked));
}

const SHOP = [deployment("web"), deployment("cart"), pod("web", 1), pod("web", 2), pod("cart", 1)];

Deno.test("the same configuration changes nothing, whatever the API server added", async () => {
  const stored = (spec: string) =>
    spec.replace(
      '"path":"istio-token","expirationSeconds":43200,"audience":"istio-ca"',
      '"audience":"istio-ca","expirationSeconds":43200,"path":"istio-token"',
    ).replace('"initialDelaySeconds":0,', "").replace(
      '"name":"istio-proxy",',
      '"name":"istio-proxy","terminationMessagePath":"/dev/termination-log",',
    )
      .replaceAll('"name":"http-envoy-prom"', '"name":"http-envoy-prom","protocol":"TCP"')
      .replace(
        '"volumeMounts":[',
        '"volumeMounts":[{"name":"kube-api-access-x","mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"},',
      );
  const objects = [deployment("web"), pod("web", 1, stored)];
  const found = await upgrade({ objects });
  assert.deepEqual(found, {
    to: "injector.yaml",
    differs: false,
    workloads: [{ workload: "deployment/web", namespace: "shop", pods: 1, changes: [], unknown: null }],
  });
  assert.equal(upgradeText(found), '"injector.yaml" changes no known sidecar of 1 workload\n');
});

Deno.test("a volume without a source is the emptyDir that the API server makes of it", async () => {
  const text = BUILT_IN.config.replaceAll("emptyDir: {}", "emptyDir:");
  assert.notEqual(text, BUILT_IN.config);
  const found = await upgrade({ objects: SHOP }, { to: { files: { config: { text, file: "injector.yaml" } } } });
  assert.deepEqual(found.workloads.flatMap(({ changes }) => changes), []);
});

Deno.test("a difference of all workloads is reported once", async () => {
  const to = { files: { config: CONFIG, values: values((text) => text.replace(/^( {2}tag: ).*$/m, "$19.9.9")) } };
  const found = await upgrade({ objects: SHOP }, { to });
  assert.deepEqual(found.workloads.map(({ workload, pods }) => [workload, pods]), [
    ["deployment/cart", 1],
    ["deployment/web", 2],
  ]);
  assert.equal(found.differs, true);
  const text = upgradeText(found);
  assert.match(
    text,
    /^all 2 workloads, 3 pods:\n {4}istio-init +image +\S+ -> \S+:9\.9\.9\n {4}istio-proxy +image +/,
  );
  assert.match(text, /"injector.yaml" changes the sidecars of 2 of 2 workloads, 3 pods\n$/);
  const narrow = upgradeText(found, 60);
  assert.match(narrow, /^ {4}istio-proxy +image\n {8}\S+ ->\n {8}\S+:9\.9\.9$/m);
  assert.deepEqual(narrow.split("\n").filter((line) => line.length > 60), []);
  assert.deepEqual(UPGRADE.parse(JSON.parse(upgradeJson(found))), found);
});

Deno.test("differences of one workload stand apart", async () => {
  const old = (spec: string) => spec.replace('"--proxyLogLevel=warning"', '"--proxyLogLevel=debug"');
  const objects = [deployment("web"), deployment("cart"), pod("web", 1, old), pod("cart", 1)];
  const found = await upgrade({ objects });
  assert.deepEqual(found.workloads.map(({ changes }) => changes.map(({ field }) => field)), [[], ["args"]]);
  assert.match(upgradeText(found), /^shop\/deployment\/web, 1 pod:\n {4}istio-proxy +args +.*debug.* -> .*warning/);
  assert.deepEqual(upgradeText(found, 60).split("\n").filter((line) => line.length > 60), []);
});

/** Changes of the template, with the report about each change. */
const CHANGES: readonly (readonly [what: string, change: (config: string) => string, shown: RegExp])[] = [
  [
    "an init container less",
    (text) => text.replace('"istio-init" $cni', '"other-init" $cni'),
    /istio-init +container +\S+ -> none\n.*other-init +container +none -> /,
  ],
  [
    "the user",
    (text) => text.replaceAll("runAsUser: 0", "runAsUser: 7"),
    /istio-init +securityContext.runAsUser +0 -> 7/,
  ],
  [
    "a variable",
    (text) => text.replace(/^( +)- name: PROXY_CONFIG/m, "$1- {name: NEW_VARIABLE, value: b}\n$&"),
    /istio-proxy +env\[NEW_VARIABLE\] +none -> b/,
  ],
  [
    "a volume",
    (text) => text.replace(/( +- name: istio-data\n +)emptyDir: \{\}/, "$1hostPath: {path: /data}"),
    /pod +volumes\[istio-data\].*none -> /,
  ],
  [
    "the policy",
    (text) => text.replace(/^policy: .*$/m, "policy: disabled"),
    /pod +sidecar +injected -> not injected: /,
  ],
  [
    "a template that fails",
    (text) => text.replace("      initContainers:", '      {{ fail "no" }}\n      initContainers:'),
    /pod +sidecar +injected -> refused: /,
  ],
];

for (const [what, change, shown] of CHANGES) {
  Deno.test(`a change of templates is reported: ${what}`, async () => {
    const text = change(BUILT_IN.config);
    assert.notEqual(text, BUILT_IN.config);
    const found = await upgrade({ objects: SHOP }, { to: { files: { config: { text, file: "injector.yaml" } } } });
    assert.equal(found.differs, true);
    assert.match(upgradeText(found), shown);
  });
}

Deno.test("additions of other webhooks to a running pod are no change, additions of templates are", async () => {
  const added = (spec: string) =>
    spec.replace(
      '"env":[{"name":"PILOT_CERT_PROVIDER"',
      '"env":[{"name":"OF_OTHERS","value":"a"},{"name":"PILOT_CERT_PROVIDER"',
    );
  const objects = [deployment("web"), pod("web", 1, added)];
  assert.equal((await upgrade({ objects })).differs, false);
  const text = BUILT_IN.config.replace(/^ +- name: PILOT_CERT_PROVIDER\n.*\n/m, "");
  const { workloads: [web] } = await upgrade({ objects }, {
    to: { files: { config: { text, file: "injector.yaml" } } },
  });
  assert.deepEqual(web?.changes.map(({ field, to }) => [field, to]), [["env[PILOT_CERT_PROVIDER]", null]]);
});

Deno.test("a revision or tag is looked up in the webhooks", async () => {
  const canary = meshObjects({ revision: "canary", tags: ["prod"] });
  const objects = [...SHOP, ...canary];
  for (const revision of ["canary", "prod"]) {
    const { differs, workloads } = await upgrade({ objects }, { to: { revision }, name: revision });
    assert.equal(differs, true);
    const fields = new Set(workloads.flatMap(({ changes }) => changes.map(({ field }) => field)));
    assert.deepEqual(fields, new Set(["env[CA_ADDR]"]));
  }
  await assert.rejects(upgrade({ objects }, { to: { revision: "nobody" } }), {
    message: 'No webhook serves the revision "nobody"',
    hint: 'webhooks serve "default", "canary", "prod"; if you mean the file "nobody", write "./nobody"',
  });
  const bare = inventoryOf({ api: clusterApi({}), clock: CLOCK, scope: SCOPE });
  await assert.rejects(planeOf(bare, "nobody"), {
    hint: 'the cluster has no injection webhook; if you mean the file "nobody", write "./nobody"',
  });
  const forbidden = /webhookconfigurations/;
  await assert.rejects(
    upgrade({ objects, forbidden }, { to: { revision: "canary" } }),
    /Cannot tell which webhook serves/,
  );
});

Deno.test("unreadable workloads are not reported as unchanged", async () => {
  const blind = await upgrade({ objects: SHOP, forbidden: /deployments/ });
  assert.equal(blind.differs, null);
  assert.match(
    upgradeText(blind),
    /^\? shop\/deployment\/cart, shop\/deployment\/web:\n {4}cannot tell: needs get on deployments in the namespace "shop"/,
  );
  const config = await upgrade({ objects: SHOP, forbidden: /configmaps/ });
  assert.equal(config.differs, null);
  const other = pod("web", 1);
  const rollout = {
    ...other,
    metadata: { ...other.metadata, ownerReferences: [{ kind: "Rollout", name: "web", controller: true }] },
  };
  const { differs, workloads } = await upgrade({ objects: [rollout] });
  assert.equal(differs, null);
  assert.match(workloads[0]?.unknown ?? "", /Rollout|rollout/);
  await assert.rejects(upgrade({ objects: SHOP, forbidden: /pods$/ }), /denied the request/);
});

Deno.test("without pods with a sidecar nothing changes", async () => {
  const plain = object("v1", "Pod", "shop/plain", { spec: { containers: [{ name: "app" }] } });
  const found = await upgrade({ objects: [plain] });
  assert.deepEqual([found.differs, found.workloads], [false, []]);
  assert.equal(upgradeText(found), "no pod with a sidecar is running\n");
});

Deno.test("a file that is no configuration is an error", async () => {
  const to = { files: { config: { text: "templates: {a: b", file: "injector.yaml" } } };
  await assert.rejects(upgrade({ objects: SHOP }, { to }), /injector.yaml|YAML/);
});
