/** The caBundle by which the API server trusts the webhook (Kubernetes, "Dynamic Admission Control"). */
import type { KubeApi, MutatingWebhookConfiguration } from "../../kube/client/mod.ts";
import { lastWriter } from "./last_writer.ts";

/** The collection of webhook configurations. */
export const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/** A Service that serves webhooks. */
export interface WebhookService {
  readonly name: string;
  readonly namespace: string;
}

/** The result for a configuration. */
export interface BundleResult {
  readonly result: "same" | "patched" | "absent";
  /** The last writer before the patch. */
  readonly writer?: string | undefined;
}

/**
 * Writes a bundle (PEM) to every webhook of a configuration that calls this Service, if it differs. The patch tests the name
 * of each webhook, so that it fails if the list has changed. Errors: an `ApiError`.
 */
export async function keepBundle(
  api: KubeApi,
  configuration: string,
  service: WebhookService,
  bundle: string,
): Promise<BundleResult> {
  const path = `${CONFIGURATIONS}/${configuration}`;
  const found = await api.get(path);
  if (found === undefined) return { result: "absent" };
  const patch = patchFor(found, service, btoa(bundle));
  if (patch.length === 0) return { result: "same" };
  await api.patch(path, "json", patch);
  return { result: "patched", writer: lastWriter(found) };
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
