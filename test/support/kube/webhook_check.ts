/** Runs checks of the webhook category on clusters in memory. */
import assert from "node:assert/strict";
import type { Finding } from "../../../src/check/check.ts";
import { isMap } from "../../../src/base/value.ts";
import type { KubeObject } from "../../../src/kube/client/mod.ts";
import { clusterInventory, type ClusterOptions, object } from "./cluster.ts";
import { findingFor } from "./finding.ts";
import { meshWebhooks } from "./mesh_webhooks.ts";

/** Runs a check of this category on a cluster, at a given time. */
export async function webhookFinding(id: string, options: ClusterOptions, now = new Date()): Promise<Finding> {
  return await findingFor(id, clusterInventory(options, {}, now));
}

/** Returns the configuration that `webhook manifests` prints, with a caBundle (PEM). */
export function withBundle(pem: string, options: Parameters<typeof meshWebhooks>[0] = {}): KubeObject {
  const [configuration] = meshWebhooks(options);
  assert(configuration !== undefined && Array.isArray(configuration["webhooks"]));
  const webhooks = configuration["webhooks"].filter(isMap).map((webhook) => ({
    ...webhook,
    clientConfig: Object.assign({}, webhook["clientConfig"], { caBundle: btoa(pem) }),
  }));
  return { ...configuration, webhooks };
}

/** Returns the Service that the webhook configuration names. */
export function webhookService(port = 443): KubeObject {
  const ports = [{ name: "https", port, targetPort: "https" }];
  return object("v1", "Service", "istio-system/kubectl-mesh-webhook", { spec: { clusterIP: "10.96.0.9", ports } });
}

/** Returns the endpoints of that Service, one for each state. */
export function webhookEndpoints(states: readonly ("ready" | "waiting")[], port = "https"): KubeObject {
  const labels = { "kubernetes.io/service-name": "kubectl-mesh-webhook" };
  return object("discovery.k8s.io/v1", "EndpointSlice", "istio-system/kubectl-mesh-webhook-a", {
    metadata: { labels },
    endpoints: states.map((state, index) => ({
      addresses: [`10.0.0.${index + 1}`],
      conditions: { ready: state === "ready" },
    })),
    ports: [{ name: port, port: 15017 }],
  });
}
