/** Parts of a control plane that are lost or changed, and how its pods and its network react when they are back. */
import assert from "node:assert/strict";
import { isMap, mapAt, mapsAt, type Value, type ValueMap } from "../../../../src/base/value.ts";
import { meshObjects } from "../../../support/kube/mesh_webhooks.ts";
import { got, merged, removed } from "../../support/cluster/requests.ts";
import { ADMISSION, type Breakage, configMap, connectAnew, NOBODY, registered } from "./breaking.ts";
import { releaseOf } from "./helm.ts";
import {
  CONFIGURATION,
  configurationsOf,
  CONTROL_PLANE,
  FLAGS,
  type MeshCluster,
  objectNamed,
  routedHere,
  serviceTo,
  WEBHOOK,
} from "./mesh_cluster.ts";

const WEBHOOKS = `/apis/${ADMISSION}/mutatingwebhookconfigurations`;
const IN_CONTROL_PLANE = `/api/v1/namespaces/${CONTROL_PLANE}`;

/** Makes the webhook configuration call the port of the existing Service. */
async function calledHere(mesh: MeshCluster): Promise<void> {
  await calledAt(mesh, mesh.webhook.port);
}

/**
 * Writes the webhook's caBundle, and replaces the called Service with one that leads to this machine, because there is
 * no kube-proxy.
 */
async function calledAt(mesh: MeshCluster, called: number): Promise<void> {
  const { webhooks } = await got(mesh.cluster, `${WEBHOOKS}/${CONFIGURATION}`);
  const [{ webhooks: here } = {}] = configurationsOf(mesh);
  const all = mapsAt({ webhooks: webhooks ?? null }, "webhooks");
  for (const each of all) {
    const { path, port } = mapAt(mapAt(each, "clientConfig"), "service");
    assert.deepEqual([path, Number(port)], ["/inject", called]);
  }
  const [{ clientConfig = null } = {}] = mapsAt({ webhooks: here ?? null }, "webhooks");
  const configuration = objectNamed("MutatingWebhookConfiguration", CONFIGURATION);
  await merged(mesh.cluster, configuration, { webhooks: all.map((each): Value => ({ ...each, clientConfig })) });
}

/** Routes the recreated Service to the webhook on this machine. */
async function routedAgain(mesh: MeshCluster): Promise<void> {
  const { spec = null } = await got(mesh.cluster, `${IN_CONTROL_PLANE}/services/${WEBHOOK}`);
  assert(isMap(spec));
  assert.deepEqual(mapsAt(spec, "ports").map(({ name, port }) => [name, Number(port)])[0], [
    "https-webhook",
    mesh.webhook.port,
  ]);
  const deployments = `/apis/apps/v1/namespaces/${CONTROL_PLANE}/deployments`;
  const template = mapAt(mapAt(await got(mesh.cluster, `${deployments}/${WEBHOOK}`), "spec"), "template");
  const labels = mapAt(mapAt(template, "metadata"), "labels");
  for (const [key, value] of Object.entries(mapAt(spec, "selector"))) assert.equal(labels[key], value);
  await routedHere(mesh);
}

const NO_WEBHOOK = {
  expect: {
    "webhook-exists": "error",
    "workload-proxy-unexpected": "warning",
  },
  says: /^no MutatingWebhookConfiguration injects sidecars/,
} as const;

async function withoutWebhook({ cluster }: MeshCluster): Promise<void> {
  await removed(cluster, objectNamed("MutatingWebhookConfiguration", CONFIGURATION));
}

/** Registers the webhook again, because objects made by the advice have other field managers. */
export async function withWebhook(mesh: MeshCluster): Promise<void> {
  await mesh.kubectl("delete", "mutatingwebhookconfiguration", CONFIGURATION, "--ignore-not-found");
  await mesh.register();
}

/** Removes the flags of `webhook manifests` from the webhook's Deployment. */
async function withoutFlags({ cluster }: MeshCluster): Promise<void> {
  const annotations = { "kubectl-mesh/manifests-flags": null };
  await merged(cluster, objectNamed("Deployment", WEBHOOK, CONTROL_PLANE), { metadata: { annotations } });
}

async function withFlags(mesh: MeshCluster): Promise<void> {
  for (const object of meshObjects({ flags: FLAGS })) if (object.kind === "Deployment") await mesh.apply({ ...object });
}

/** istiod of a Helm release, with only the fields that these tests need. */
const ISTIOD = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: {
    name: "istiod",
    namespace: CONTROL_PLANE,
    labels: { app: "istiod", "istio.io/rev": "default" },
    annotations: { "meta.helm.sh/release-name": "istiod", "meta.helm.sh/release-namespace": CONTROL_PLANE },
  },
  spec: {
    selector: { matchLabels: { app: "istiod" } },
    template: {
      metadata: { labels: { app: "istiod" } },
      spec: { containers: [{ name: "discovery", image: "pilot:1" }] },
    },
  },
};

/** Makes a release with the configuration of Istio's chart, which calls istiod. */
function releaseOfIstiod(): Promise<ValueMap> {
  const clientConfig = { service: { namespace: CONTROL_PLANE, name: "istiod", path: "/inject", port: 443 } };
  const configurations = meshObjects().filter(({ kind }) => kind === "MutatingWebhookConfiguration").map((each) => {
    return { ...each, webhooks: mapsAt({ ...each }, "webhooks").map((webhook) => ({ ...webhook, clientConfig })) };
  });
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "istio", namespace: CONTROL_PLANE }, data: {} };
  return releaseOf("istiod", CONTROL_PLANE, [map, ...configurations]);
}

/** Lost parts, by name. */
export const LOST_PARTS: Readonly<Record<string, Breakage>> = {
  "the ConfigMap of the control plane is gone": {
    make: ({ cluster }) => removed(cluster, objectNamed("ConfigMap", WEBHOOK, CONTROL_PLANE)),
    heal: (mesh) => mesh.apply(configMap()),
    expect: { "injector-config-present": "error" },
    says: /There is neither the ConfigMap "kubectl-mesh-webhook" nor "istio-sidecar-injector"/,
  },
  "no webhook": { ...NO_WEBHOOK, make: withoutWebhook, heal: withWebhook, reacts: calledHere },
  "no webhook of a Helm release": {
    ...NO_WEBHOOK,
    async make(mesh) {
      await withoutFlags(mesh);
      for (const object of [ISTIOD, await releaseOfIstiod()]) await mesh.apply(object);
      await withoutWebhook(mesh);
    },
    async heal(mesh) {
      for (const object of [ISTIOD, await releaseOfIstiod()]) await removed(mesh.cluster, object);
      await withFlags(mesh);
      await withWebhook(mesh);
    },
    reacts: (mesh) => calledAt(mesh, 443),
  },
  "no webhook, and nothing shows who installed it": {
    ...NO_WEBHOOK,
    async make(mesh) {
      await withoutFlags(mesh);
      await withoutWebhook(mesh);
    },
    async heal(mesh) {
      await withFlags(mesh);
      await withWebhook(mesh);
    },
  },
  "selectors that select nobody": {
    ...registered((each) => ({ ...each, namespaceSelector: NOBODY }), {
      expect: {
        "workload-proxy-unexpected": "warning",
        "namespace-revision-served": "warning",
        "namespace-labelled": "warning",
      },
      says: /^pod\/mesh\/cart: it has a proxy, but no webhook is called for new pods/,
      reacts: calledHere,
    }),
    heal: withWebhook,
  },
  "no Service": {
    async make(mesh) {
      await removed(mesh.cluster, serviceTo(0));
      await connectAnew(mesh);
    },
    async heal(mesh) {
      await mesh.apply(serviceTo(mesh.webhook.port));
      await mesh.register();
    },
    expect: { "webhook-service": "error", "webhook-reachable": "error" },
    says: /the Service "istio-system\/kubectl-mesh-webhook" does not exist/,
    reacts: routedAgain,
  },
};
