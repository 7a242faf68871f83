import assert from "node:assert/strict";
import { ACCESS_REVIEWS, clusterApi, object } from "../../test/support/kube/cluster.ts";
import { meshObjects, meshWebhooks } from "../../test/support/kube/mesh_webhooks.ts";
import type { KubeObject } from "../kube/client/mod.ts";
import { BUILT_IN } from "../inject/mod.ts";
import { realWorld } from "../platform/mod.ts";
import { ALL_CHECKS } from "./checks/all.ts";
import { judge } from "./run.ts";
import { explainInjection } from "./injection/explain_injection.ts";
import { inventoryOf } from "./inventory/mod.ts";
import { PATHS, rbacText, type Right, rightsFor } from "./rights.ts";

/** Kinds that `check injection` accepts as KIND/NAME. */
const KINDS: readonly (readonly [apiVersion: string, kind: string])[] = [
  ["v1", "Pod"],
  ["v1", "ReplicationController"],
  ["apps/v1", "Deployment"],
  ["apps/v1", "StatefulSet"],
  ["apps/v1", "DaemonSet"],
  ["apps/v1", "ReplicaSet"],
  ["batch/v1", "Job"],
  ["batch/v1", "CronJob"],
];

/** Metadata of a webhook configuration whose caBundle Argo CD has written. */
const OF_ARGO_CD = {
  annotations: { "argocd.argoproj.io/tracking-id": "istio:admissionregistration.k8s.io/X:/x" },
  managedFields: [{
    manager: "argocd-controller",
    fieldsV1: { "f:webhooks": { "k:{}": { "f:clientConfig": { "f:caBundle": {} } } } },
  }],
};

function objects(): readonly KubeObject[] {
  return [
    ...meshWebhooks().map((each) => ({ ...each, metadata: { ...each.metadata, ...OF_ARGO_CD } })),
    ...meshObjects().filter(({ kind }) => kind === "ConfigMap").map((map) => ({
      ...map,
      data: {
        ...Object(map["data"]),
        values: BUILT_IN.values.replace("imagePullSecrets: []", "imagePullSecrets: [a]"),
      },
    })),
    object("v1", "Pod", "web/slow", {
      spec: { containers: [{ name: "istio-proxy", image: "proxyv2" }] },
      status: { containerStatuses: [{ name: "istio-proxy", ready: false, state: { running: {} } }] },
    }),
    object("v1", "Namespace", "istio-system"),
    object("v1", "Namespace", "web", { metadata: { labels: { "istio-injection": "enabled" } } }),
    ...KINDS.map(([apiVersion, kind]) => object(apiVersion, kind, "web/app", { spec: { containers: [] } })),
  ];
}

/** Returns all requests of `check` and `check injection`. */
async function requestsOfAll(): Promise<readonly string[]> {
  const api = clusterApi({ objects: objects(), raw: { "/version": {}, "/apis": {} } });
  const { clock } = realWorld();
  const scope = { namespace: undefined, istioNamespace: "istio-system", revision: undefined };
  const inventory = inventoryOf({ api, clock, scope });
  for (const check of ALL_CHECKS) await judge(check, inventory);
  for (const fact of Object.values(inventory)) {
    if (typeof fact === "function" && fact.length === 0) await Reflect.apply(fact, inventory, []);
  }
  for (const [, kind] of KINDS) {
    const question = { workload: `${kind.toLowerCase()}/app`, namespace: "web", choice: {}, configuration: {} };
    await explainInjection(realWorld(), api, question).catch(() => {});
  }
  return [...new Set(api.requests)].filter((request) => request !== `create ${ACCESS_REVIEWS}`);
}

interface Asked {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
}

function asked(request: string): Asked {
  const [verb = "", path = ""] = request.replace(/\?.*/, "").split(" ");
  const [, group, rest = ""] = /^\/(?:api|apis\/([^/]+))\/v1(?:alpha1)?\/(.*)$/.exec(path) ?? [];
  const [, namespace, own = rest] = /^namespaces\/([^/]+)\/(.+)$/.exec(rest) ?? [];
  const [plural = "", name, sub] = own.split("/");
  return { verb, group: group ?? "", resource: sub === undefined ? plural : `${plural}/${sub}`, name, namespace };
}

function isGranted({ verb, group, resource, name, namespace }: Asked, right: Right): boolean {
  if (right.inControlPlane === true && namespace !== "istio-system") return false;
  if (right.names !== undefined && !right.names.includes(name ?? "")) return false;
  return right.group === group && right.resources.includes(resource) && right.verbs.includes(verb);
}

Deno.test("every request is granted, and every right is used", async () => {
  const requests = await requestsOfAll();
  const rights = rightsFor({ revision: undefined });
  const resources = requests.filter((request) => !request.startsWith("raw ")).map(asked);
  const refused = resources.filter((each) => !rights.some((right) => isGranted(each, right)));
  assert.deepEqual(refused, []);
  const single = rights.flatMap((right) =>
    right.resources.flatMap((resource) =>
      right.verbs.flatMap((verb) => (right.names ?? [undefined]).map((name) => ({ right, resource, verb, name })))
    )
  );
  const idle = single.filter(({ right, resource, verb, name }) =>
    !resources.some((each) =>
      each.resource === resource && each.verb === verb && (name === undefined || each.name === name) &&
      isGranted(each, right)
    )
  );
  assert.deepEqual(idle.map(({ resource, verb, name }) => [verb, resource, name]), []);
  assert.deepEqual(requests.filter((each) => each.startsWith("raw ")).sort(), PATHS.map((path) => `raw ${path}`));
});

Deno.test("the Secret of a revision's webhook has that revision's name", () => {
  const text = rbacText({ istioNamespace: "mesh", revision: "canary" });
  assert.match(text, /- kubectl-mesh-webhook-canary-certificates\n/);
  assert.match(text, /kind: Role\nmetadata:\n {2}name: kubectl-mesh-check\n {2}namespace: mesh\n/);
  assert.match(text, /kind: Role\nmetadata:\n {2}name: kubectl-mesh-check-secrets\n {2}namespace: mesh\n/);
  assert.match(text, /# {3}kubectl create rolebinding -n mesh /);
});

Deno.test("Secrets and the right to create pods are in optional roles", () => {
  const documents = rbacText({ istioNamespace: "mesh", revision: undefined }).split("---\n");
  assert.deepEqual(documents.map((text) => /\n {2}- secrets\n/.test(text)), [
    false,
    false,
    false,
    false,
    true,
    true,
    false,
  ]);
  assert.match(documents[4] ?? "", /\n {2}resourceNames:\n {2}- cacerts\n {2}- istio-ca-secret\n/);
  assert.deepEqual(documents.map((text) => /\n {2}- create\n/.test(text)), [
    false,
    false,
    true,
    true,
    false,
    false,
    false,
  ]);
  assert.match(documents[4] ?? "", /^# Optional, for users who may read private keys/);
});
