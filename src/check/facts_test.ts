import assert from "node:assert/strict";
import { clusterInventory, object } from "../../test/support/kube/cluster.ts";
import { meshObjects } from "../../test/support/kube/mesh_webhooks.ts";
import { webhookEndpoints, withBundle } from "../../test/support/kube/webhook_check.ts";
import { testCertificate } from "../../test/support/tls/certificates.ts";
import type { KubeObject } from "../kube/client/mod.ts";
import { ALL_CHECKS } from "./checks/all.ts";
import type { Check } from "./check.ts";
import { cannotTell, type Facts, firstKnown, inEach, later } from "./facts.ts";
import { type Inventory, isKnown, type Unknown } from "./inventory/mod.ts";
import { judge } from "./run.ts";

/** A healthy cluster with objects for as many checks as possible. */
function wellCluster(): readonly KubeObject[] {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-1", controller: true };
  const { authority } = testCertificate(80n);
  const service = { namespace: "istio-system", name: "kubectl-mesh-webhook" };
  const quota = { hard: { "requests.cpu": "100", "limits.cpu": "100" } };
  return [
    withBundle(authority),
    ...meshObjects().filter(({ kind }) => kind !== "MutatingWebhookConfiguration"),
    webhookEndpoints(["ready"], "https-webhook"),
    object("v1", "ConfigMap", "istio-system/istio-ca-root-cert", { data: { "root-cert.pem": authority } }),
    object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "istiod", {
      webhooks: [{ name: "rev.validation.istio.io", clientConfig: { service }, rules: [{}] }],
    }),
    object("v1", "Namespace", "istio-system"),
    object("v1", "Namespace", "shop", { metadata: { labels: { "istio-injection": "enabled" } } }),
    object("v1", "ConfigMap", "shop/istio-ca-root-cert", { data: {} }),
    object("v1", "ResourceQuota", "shop/all", { spec: quota, status: { used: {} } }),
    object("v1", "LimitRange", "shop/all", { spec: { limits: [{ type: "Container", max: { cpu: "10" } }] } }),
    object("v1", "Node", "node-1", { status: { nodeInfo: { kubeletVersion: "v1.34.1" } } }),
    object("v1", "Pod", "kube-system/kube-apiserver-a", {
      metadata: { labels: { component: "kube-apiserver" } },
      spec: { nodeName: "node-1", containers: [{ name: "a", command: ["kube-apiserver"] }] },
    }),
    object("v1", "Pod", "kube-system/kube-proxy-a", {
      metadata: { labels: { "k8s-app": "kube-proxy" } },
      spec: { nodeName: "node-1", containers: [] },
    }),
    object("apps/v1", "Deployment", "shop/web", { spec: { template: { spec: { containers: [{ name: "app" }] } } } }),
    object("v1", "Pod", "shop/web-1-a", {
      metadata: { ownerReferences: [owner], annotations: { "sidecar.istio.io/status": "{}" } },
      spec: {
        nodeName: "node-1",
        initContainers: [{ name: "istio-validation" }],
        containers: [{ name: "app" }, { name: "istio-proxy", image: "proxy" }],
      },
      status: { phase: "Running", containerStatuses: [{ name: "istio-proxy", ready: true }] },
    }),
    object("v1", "Pod", "istio-system/mesh-cni-node-a", {
      spec: { nodeName: "node-1", containers: [{ name: "install-cni" }] },
      status: { phase: "Running", containerStatuses: [{ name: "install-cni", ready: true }] },
    }),
  ];
}

/** A managed cluster, whose kube-apiserver is hidden, with a webhook of another program. */
function otherCluster(): readonly KubeObject[] {
  const rules = [{ apiGroups: [""], operations: ["CREATE"], resources: ["pods"] }];
  return [
    ...wellCluster().filter(({ metadata }) => metadata.namespace !== "kube-system"),
    object("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "other", {
      webhooks: [{ name: "other.example.com", rules, clientConfig: { url: "https://other.test" } }],
    }),
  ];
}

/** A cluster without a mesh. An aggregated API shows that the API server reaches Services. */
function plainCluster(): readonly KubeObject[] {
  const status = { conditions: [{ type: "Available", status: "True" }] };
  const service = { namespace: "kube-system", name: "metrics-server" };
  const proxy = { name: "istio-proxy", ready: false, state: { running: {} } };
  return [
    object("apiregistration.k8s.io/v1", "APIService", "v1.metrics", { spec: { service }, status }),
    // A command in this proxy shows no problem.
    object("v1", "Pod", "shop/slow", {
      spec: { containers: [{ name: "istio-proxy", image: "proxy" }] },
      status: { containerStatuses: [proxy] },
    }),
  ];
}

/** Envoy's configuration without rejected updates. */
const DUMP = {
  configs: [{
    "@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump",
    version_info: "2026-01-02T03:04:05Z/1",
  }],
};

/** Returns the inventory of an API server that injects pods and serves its version and APIs. */
function inventory(objects = wellCluster()): Inventory {
  const raw = {
    "/version": { gitVersion: "v1.34.1", major: "1", minor: "34" },
    "/apis": {
      groups: ["admissionregistration.k8s.io/v1", "gateway.networking.k8s.io/v1"].map((groupVersion) => ({
        name: "a",
        versions: [{ groupVersion }],
      })),
    },
  };
  return clusterInventory({
    objects,
    raw,
    date: new Date().toUTCString(),
    exec: () => ({ code: 0, stdout: new TextEncoder().encode(JSON.stringify(DUMP)), stderr: "" }),
    dryRun: (namespace, pod) => {
      const proxy = [{ name: "istio-proxy", image: "proxy" }];
      const spec = "spec" in pod && typeof pod.spec === "object" ? { ...pod.spec } : {};
      return object("v1", "Pod", `${namespace}/made`, { spec: { initContainers: proxy, ...spec, containers: proxy } });
    },
  });
}

type Getter = (...args: unknown[]) => Promise<unknown>;

function gettersOf(all: Inventory): [name: string, getter: Getter][] {
  return Object.entries<unknown>(all).filter((entry): entry is [string, Getter] => typeof entry[1] === "function");
}

/** Returns the inventory with these getters unknown, and the names of all getters that are called. */
function hiding(all: Inventory, isHidden: (name: string) => boolean, unknown: Unknown) {
  const read = new Set<string>();
  const getters = gettersOf(all).map(([name, getter]) => [name, (...args: unknown[]) => {
    read.add(name);
    return isHidden(name) ? Promise.resolve(unknown) : getter(...args);
  }]);
  const hidden: Inventory = { ...all, ...Object.fromEntries(getters) };
  return { hidden, read };
}

const REASONS: readonly Unknown[] = [{ forbidden: "list on all" }, { failed: "no answer" }, {
  broken: "it is missing",
  object: "configmap/a/b",
}];

/** A cluster, and for each check, the getters without which the check can still be `ok`. */
interface Case {
  readonly objects: readonly KubeObject[];
  readonly enough: Readonly<Record<string, readonly string[]>>;
}

/** No policy in the namespaces limits pods. */
const OPEN = { "pod-security": ["sidecars"], "scc-ranges": ["sidecars"] };

const CASES: readonly Case[] = [
  {
    objects: wellCluster(),
    enough: {
      // A sidecar in a dry run is the same evidence as the flags of kube-apiserver.
      "api-mutating-admission": ["apiServerPods"],
      "api-aggregator-routing": ["apiServerPods", "kubeProxyPods"],
      // The ConfigMap of the CA is the same evidence as the Secrets.
      "webhook-certificate": ["secret"],
      // LimitRanges matter only if a quota limits a resource that the sidecar does not set. Workloads matter only for a
      // pod with an unexpected proxy.
      "resource-quota": ["limitRanges"],
      "workload-proxy-unexpected": ["workloads"],
      ...OPEN,
    },
  },
  {
    objects: otherCluster(),
    enough: {
      "api-mutating-admission": ["apiServerPods"],
      "api-aggregator-routing": ["apiServerPods"],
      "webhook-certificate": ["secret"],
      "resource-quota": ["limitRanges"],
      "workload-proxy-unexpected": ["workloads"],
      ...OPEN,
    },
  },
  {
    objects: plainCluster(),
    // An aggregated API that responds is the same evidence as a webhook that responds. The other checks judge no object.
    enough: {
      "resource-quota": ["limitRanges", "sidecars"],
      "limit-range": ["sidecars"],
      "workload-proxy-unexpected": ["workloads"],
      ...OPEN,
      "api-aggregator-routing": ["apiServerPods", "injectors"],
      "workload-pods-created": ["failedCreations"],
    },
  },
];

/** Getters that only advice calls. */
const OF_ADVICE = ["applications", "deploymentsIn", "podsIn"];

Deno.test("no check that reads an unknown value is ok, whichever value it is", async () => {
  const wellAtFirst = new Set<string>();
  const found: string[] = [];
  const everRead = new Set<string>();
  const without = async (
    { all, enough }: { all: Inventory } & Pick<Case, "enough">,
    check: Check,
    [name, unknown]: [string, Unknown],
  ) => {
    const { hidden, read } = hiding(all, (each) => each === name, unknown);
    const { result, message = "" } = await judge(check, hidden);
    assert.ok(read.has(name));
    const isRight = ["unknown", "error", "warning"].includes(result) || enough[check.id]?.includes(name);
    if (!isRight || /bug in it/.test(message)) found.push(`${check.id} reads ${name}: ${result} ${message}`);
  };
  for (const { objects, enough } of CASES) {
    const all = inventory(objects);
    const hidings = gettersOf(all).flatMap(([name]) => REASONS.map((unknown): [string, Unknown] => [name, unknown]));
    for (const check of ALL_CHECKS) {
      // First finds the getters that the check calls. Then makes each of these getters unknown.
      const { hidden, read } = hiding(all, () => false, { failed: "" });
      if ((await judge(check, hidden)).result === "ok") wellAtFirst.add(check.id);
      read.forEach((name) => everRead.add(name));
      for (const hiding of hidings.filter(([name]) => read.has(name))) await without({ all, enough }, check, hiding);
    }
  }
  assert.deepEqual(found, []);
  assert.deepEqual(gettersOf(inventory()).map(([name]) => name).filter((name) => !everRead.has(name)), OF_ADVICE);
  // Each check must be ok in one of the clusters, or else the test proves nothing about it.
  assert.deepEqual(ALL_CHECKS.map(({ id }) => id).filter((id) => !wellAtFirst.has(id)), []);
});

Deno.test("no check is ok while everything is unknown", async () => {
  for (const unknown of REASONS) {
    const { hidden } = hiding(inventory(), () => true, unknown);
    for (const check of ALL_CHECKS) {
      const expected = "failed" in unknown ? "error" : "unknown";
      const { result } = await judge(check, hidden);
      assert.equal(result, expected, check.id);
    }
  }
});

Deno.test("checks are unknown if only the configuration of a control plane is unknown", async () => {
  const all = inventory();
  const { value: planes } = await all.planes();
  const unknown = { forbidden: "get on configmaps" };
  const blind = new Map([...planes].map(([key, plane]) => [key, { ...plane, texts: unknown, injector: unknown }]));
  for (const check of ALL_CHECKS.filter(({ category }) => category === "injector-configuration")) {
    const { result } = await judge(check, { ...all, planes: () => Promise.resolve({ value: blind }) });
    assert.equal(result, "unknown", check.id);
  }
  const pods = await all.expectations();
  assert(isKnown(pods));
  const undecided = pods.value.map((pod) => ({ ...pod, hasProxy: false, decision: unknown }));
  const missing = ALL_CHECKS.find(({ id }) => id === "workload-proxy-missing");
  assert(missing !== undefined);
  assert.deepEqual(await judge(missing, { ...all, expectations: () => Promise.resolve({ value: undecided }) }), {
    result: "unknown",
    message: "cannot tell for 1 pod: needs get on configmaps",
    missingRight: "get on configmaps",
  });
});

const PROBLEM = { object: "a", message: "is odd" };

async function ran<T>(run: (facts: Facts) => Promise<T>): Promise<T | string> {
  let ended: { readonly value: T } | undefined;
  const { result, message = "" } = await judge({
    run: async (facts) => {
      ended = { value: await run(facts) };
      return { result: "ok" };
    },
  }, inventory());
  return ended === undefined ? `${result}: ${message}` : ended.value;
}

Deno.test("problems of some items are reported even if other items are unknown", async () => {
  const find = (item: number) => item === 1 ? cannotTell("too dark") : item === 2 ? [PROBLEM] : [];
  assert.deepEqual(await ran(() => inEach([1, 2, 3], async (item) => await find(item))), [PROBLEM]);
  assert.deepEqual(await ran(() => inEach([1, 3], async (item) => await find(item))), "unknown: cannot tell: too dark");
  assert.deepEqual(await ran(async () => await inEach([1, 2], find)), [PROBLEM]);
  const counted = await ran(async () => await inEach([1, 3, 1], find, "pod"));
  assert.equal(counted, "unknown: cannot tell for 2 pods: too dark");
});

Deno.test("firstKnown() returns the first value, or else the first unknown answer", async () => {
  const dark = () => cannotTell("too dark");
  assert.equal(await ran(() => firstKnown([dark, () => undefined, () => 3])), 3);
  assert.equal(await ran(() => firstKnown([() => undefined, dark])), "unknown: cannot tell: too dark");
  assert.equal(await ran(() => firstKnown<number>([() => undefined])), undefined);
});

Deno.test("an unknown value ends the check only where it is used", async () => {
  const dark = () => Promise.resolve().then(() => cannotTell("too dark"));
  assert.equal(await ran(async () => typeof await later(dark())), "function");
  assert.equal(await ran(async () => (await later(dark()))()), "unknown: cannot tell: too dark");
  assert.equal(await ran(async () => (await later(Promise.resolve(1)))()), 1);
});

Deno.test("a thrown error is not an unknown value", async () => {
  const fails = () => Promise.reject(new TypeError("x is undefined"));
  const shown = "error: The check has a bug: x is undefined; please report this message";
  assert.equal(await ran(() => firstKnown([fails, () => 1])), shown);
  assert.equal(await ran(() => inEach([1], fails)), shown);
  assert.equal(await ran(() => later(fails())), shown);
});
