import assert from "node:assert/strict";
import { connect, type KubeConnection } from "../../../src/kube/client/mod.ts";
import { realWorld } from "../../../src/platform/mod.ts";
import { secretData } from "../../../src/webhook/certificates/certificate_set.ts";
import { LIFETIMES } from "../../../src/webhook/certificates/renewal.ts";
import { agree } from "../../../src/webhook/certificates/secret_store.ts";
import { mapAt } from "../../../src/base/value.ts";
import { type ManifestOptions, webhookManifests } from "../../../src/webhook/manifests/mod.ts";
import { objectsOf } from "../../support/objects_of.ts";
import { CERTIFICATE } from "../../support/tls/self_signed.ts";
import { testWhen } from "../../support/test_when.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { kubectl } from "../support/webhook.ts";
import { allowed, created, createNamespace, current, got } from "../support/cluster/requests.ts";

const IMAGE = "example.com/kubectl-mesh:1";

const CASES: Readonly<Record<string, Partial<ManifestOptions>>> = {
  "the defaults": {},
  "a revision with tags": { revision: "canary", tags: ["prod", "default"], namespace: "mesh" },
  "a strict selection": {
    revision: "strict",
    failurePolicy: "Ignore",
    namespaceSelector: "team in (a,b),!legacy",
    replicas: 3,
  },
  "an autoscaler and a network policy": {
    revision: "large",
    maxReplicas: 5,
    networkPolicy: ["10.0.0.0/28", "2001:db8::1"],
    metricsNamespaces: ["monitoring"],
    probesFrom: ["10.1.0.0/16"],
  },
  "the configuration of a control plane": { revision: "next", namespace: "mesh", fromCluster: {} },
};

testWhen(needsCluster(), "a cluster accepts the output of webhook manifests", async (t) => {
  const cluster = await startCluster();
  try {
    for (const namespace of ["istio-system", "mesh"]) await createStrictNamespace(cluster, namespace);
    for (const [name, options] of Object.entries(CASES)) {
      await t.step(`${name}: applied, and again without a difference`, () => appliesCleanly(cluster, options));
    }
    await t.step("a caBundle that the webhook wrote stays on apply", () => keepsBundle(cluster));
    for (const [name, apply] of Object.entries(AGAIN)) {
      await t.step(`${name} clears no key`, () => keepsKey(cluster, apply));
    }
    await t.step("its rights are sufficient and minimal", () => hasRights(cluster));
  } finally {
    await cluster.stop();
  }
});

/** The namespace enforces the restricted Pod Security level, and warns about Deployments. */
async function createStrictNamespace(cluster: Cluster, namespace: string): Promise<void> {
  const levels = ["enforce", "warn"].map((mode) => [`pod-security.kubernetes.io/${mode}`, "restricted"] as const);
  await createNamespace(cluster, namespace, Object.fromEntries(levels));
}

/** Standard output of kubectl. A warning is a failure. */
async function done(cluster: Cluster, args: readonly string[], stdin?: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectl(args, stdin);
  assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
  assert.equal(stderr, "", args.join(" "));
  return stdout;
}

async function appliesCleanly(cluster: Cluster, options: Partial<ManifestOptions>): Promise<void> {
  const manifests = webhookManifests({ image: IMAGE, ...options });
  const apply = ["apply", "--validate=strict", "-f", "-"];
  assert.doesNotMatch(await done(cluster, apply, manifests), /unchanged|configured/);
  const versions = await versionsOf(cluster, manifests);
  // kubectl sends the selector of a PodDisruptionBudget on each apply: its patch strategy is "replace".
  const again = await done(cluster, apply, manifests);
  assert.deepEqual(again.trim().split("\n").filter((line) => !/ unchanged$|^poddisruptionbudget/.test(line)), []);
  assert.deepEqual(await versionsOf(cluster, manifests), versions);
  const serverSide = ["--server-side", "--dry-run=server", "--field-manager=kubectl-client-side-apply"];
  await done(cluster, [...apply, ...serverSide], manifests);
  await startsPod(cluster, options);
}

function versionsOf(cluster: Cluster, manifests: string): Promise<unknown[]> {
  return Promise.all(
    objectsOf(manifests).map(async (object) => {
      return mapAt(await current(cluster, object), "metadata")["resourceVersion"];
    }),
  );
}

/**
 * Creates the pod of the Deployment's template, because the cluster has no controllers. Pod Security refuses a pod that
 * is not restricted.
 */
async function startsPod(cluster: Cluster, { revision, namespace = "istio-system" }: Partial<ManifestOptions>) {
  const name = revision === undefined ? "kubectl-mesh-webhook" : `kubectl-mesh-webhook-${revision}`;
  const deployment = await got(cluster, `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`);
  const template = mapAt(mapAt(deployment, "spec"), "template");
  const metadata = { ...mapAt(template, "metadata"), name: `${name}-0`, namespace };
  await created(cluster, { apiVersion: "v1", kind: "Pod", metadata, spec: mapAt(template, "spec") }, { dryRun: "All" });
}

async function keepsBundle(cluster: Cluster): Promise<void> {
  const configuration = "mutatingwebhookconfiguration/istio-sidecar-injector";
  const caBundle = btoa(CERTIFICATE);
  const patch = [0, 1, 2, 3].map((index) => ({
    op: "add",
    path: `/webhooks/${index}/clientConfig/caBundle`,
    value: caBundle,
  }));
  await done(cluster, ["patch", configuration, "--type=json", "-p", JSON.stringify(patch)]);
  assert.equal(await done(cluster, ["diff", "-f", "-"], webhookManifests({ image: IMAGE })), "");
  await done(cluster, ["apply", "-f", "-"], webhookManifests({ image: IMAGE, failurePolicy: "Ignore" }));
  const after = JSON.parse(await done(cluster, ["get", configuration, "-o", "json"]));
  assert.equal(after.webhooks.length, 4);
  for (const webhook of after.webhooks) {
    assert.deepEqual([webhook.clientConfig.caBundle, webhook.failurePolicy], [caBundle, "Ignore"]);
  }
}

/** How users and programs apply existing manifests: flags of kubectl. */
const AGAIN: Readonly<Record<string, readonly string[]>> = {
  "an apply": ["apply", "-f", "-"],
  "a server-side apply of kubectl": ["apply", "--server-side", "--force-conflicts", "-f", "-"],
  "a server-side apply of Argo CD": [
    "apply",
    "--server-side",
    "--force-conflicts",
    "--field-manager=argocd-controller",
    "-f",
    "-",
  ],
  "an apply after those": ["apply", "-f", "-"],
};

/** The webhook writes its certificates if none exist. It finds the same ones after the applies. */
async function keepsKey(cluster: Cluster, apply: readonly string[]): Promise<void> {
  const api = await connect(realWorld(), { kubeconfig: cluster.kubeconfig });
  try {
    const before = await certificatesBy(api);
    await kubectl(cluster, apply, webhookManifests({ image: IMAGE }));
    await kubectl(cluster, apply, webhookManifests({ image: IMAGE, replicas: 3, flags: ["--replicas=3"] }));
    const after = await certificatesBy(api);
    assert.equal(after.written, undefined);
    assert.deepEqual(secretData(after.certificates), secretData(before.certificates));
  } finally {
    api.close();
  }
}

function certificatesBy(api: KubeConnection) {
  const store = { api, namespace: "istio-system", name: "kubectl-mesh-webhook-certificates" };
  const dnsNames = ["kubectl-mesh-webhook.istio-system.svc"];
  return agree(store, { dnsNames, lifetimes: LIFETIMES, now: new Date(), jitter: 0 });
}

const SECRET = "secrets/kubectl-mesh-webhook-certificates";
const CONFIGURATION = "mutatingwebhookconfigurations/istio-sidecar-injector";

/** Verb, resource, and whether it is allowed. */
const RIGHTS: readonly (readonly [verb: string, what: string, allowed: boolean])[] = [
  ["create", "secrets", false],
  ...["get", "list", "watch", "update"].map((verb) => [verb, SECRET, true] as const),
  ...["patch", "delete"].map((verb) => [verb, SECRET, false] as const),
  ...["get", "list", "update"].map((verb) => [verb, "secrets", false] as const),
  ["get", "secrets/istio-ca-secret", false],
  ...["get", "list", "watch", "patch"].map((verb) => [verb, CONFIGURATION, true] as const),
  ...["create", "update", "delete"].map((verb) => [verb, CONFIGURATION, false] as const),
  ["patch", "mutatingwebhookconfigurations/istio-sidecar-injector-canary", false],
  ...["list", "watch"].flatMap((verb) => ["namespaces", "nodes"].map((what) => [verb, what, true] as const)),
  ["get", "nodes", false],
  ...["get", "list"].map((verb) => [verb, "configmaps", false] as const),
  ["get", "pods", false],
  ["create", "pods", false],
];

async function hasRights(cluster: Cluster): Promise<void> {
  const groups = ["system:serviceaccounts", "system:serviceaccounts:istio-system"];
  const account = { user: "system:serviceaccount:istio-system:kubectl-mesh-webhook", groups };
  const found: [string, string, boolean][] = [];
  for (const [verb, what] of RIGHTS) {
    const [resource = "", name = ""] = what.split("/");
    const group = resource === "mutatingwebhookconfigurations" ? "admissionregistration.k8s.io" : "";
    const right = { verb, group, resource, name, namespace: "istio-system" };
    found.push([verb, what, await allowed(cluster, account, right)]);
  }
  assert.deepEqual(found, RIGHTS);
}
