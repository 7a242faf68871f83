/** Updates the caBundle with which the API server verifies the webhook (Kubernetes, "Dynamic Admission Control"). */
import { MeshError } from "../../base/errors.ts";
import type { KubeApi, MutatingWebhookConfiguration } from "../../kube/client/mod.ts";
import { lastWriter } from "./last_writer.ts";

/** API path of the MutatingWebhookConfigurations. */
export const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/** The Service that a webhook configuration calls. */
export interface WebhookService {
  readonly name: string;
  readonly namespace: string;
}

/** An update of a configuration. */
export interface BundleUpdate {
  /** Name of the program that wrote the configuration last before the update. */
  readonly writer: string | undefined;
}

/**
 * Writes a bundle (PEM) to every webhook of a configuration that calls this Service. Returns `undefined` if all have this
 * bundle. The patch tests the name of each webhook, so that it fails if the list has changed. Rejects with an `ApiError`,
 * and with a `MeshError` if the configuration does not exist.
 */
export async function keepBundle(
  api: KubeApi,
  configuration: string,
  service: WebhookService,
  bundle: string,
): Promise<BundleUpdate | undefined> {
  const path = `${CONFIGURATIONS}/${configuration}`;
  const found = await api.get(path);
  if (found === undefined) {
    throw new MeshError(
      `MutatingWebhookConfiguration "${configuration}" does not exist, so the API server does not call this webhook`,
      { hint: 'apply the output of "kubectl mesh webhook manifests"' },
    );
  }
  const patch = patchFor(found, service, btoa(bundle));
  if (patch.length === 0) return undefined;
  await api.patch(path, "json", patch);
  return { writer: lastWriter(found) };
}

function patchFor(
  { webhooks = [] }: MutatingWebhookConfiguration,
  { name, namespace }: WebhookService,
  caBundle: string,
): object[] {
  return webhooks.flatMap(({ name: webhook, clientConfig }, index) => {
    const called = clientConfig?.service;
    if (called?.name !== name || called.namespace !== namespace || clientConfig?.caBundle === caBundle) return [];
    return [
      { op: "test", path: `/webhooks/${index}/name`, value: webhook },
      { op: "add", path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle },
    ];
  });
}
