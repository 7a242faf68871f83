/** The caBundle by which the API server trusts the webhook (Kubernetes, "Dynamic Admission Control"). */
import type { KubeApi, KubeObject } from "../../core/kube/client/api.ts";
import { isList, isMap, type Value } from "../../core/value.ts";

/** Where webhooks are configured. */
export const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/** A Service that serves webhooks. */
export interface WebhookService {
  readonly name: string;
  readonly namespace: string;
}

/** What became of a configuration. */
export type Kept = "same" | "patched" | "absent";

/**
 * Puts a bundle (PEM) into every webhook of a configuration that calls this Service; those that call others are left
 * alone. Nothing is written if all have it. The patch names each webhook, so that it fails where the list has changed since.
 * Errors: an ApiError.
 */
export async function keepBundle(
  api: KubeApi,
  configuration: string,
  service: WebhookService,
  bundle: string,
): Promise<Kept> {
  const path = `${CONFIGURATIONS}/${configuration}`;
  const found = await api.get(path);
  if (found === undefined) return "absent";
  const patch = patchFor(found, service, btoa(bundle));
  if (patch.length === 0) return "same";
  await api.patch(path, "json", patch);
  return "patched";
}

function patchFor(configuration: KubeObject, service: WebhookService, caBundle: string): object[] {
  const webhooks = configuration["webhooks"];
  return (isList(webhooks) ? webhooks : []).flatMap((webhook, index) => {
    if (!isMap(webhook) || !calls(webhook["clientConfig"], service)) return [];
    if (webhook["clientConfig"]["caBundle"] === caBundle) return [];
    return [
      { op: "test", path: `/webhooks/${index}/name`, value: webhook["name"] },
      { op: "add", path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle },
    ];
  });
}

function calls(clientConfig: Value | undefined, service: WebhookService): clientConfig is Record<string, Value> {
  const called = isMap(clientConfig) ? clientConfig["service"] : undefined;
  return isMap(called) && called["name"] === service.name && called["namespace"] === service.namespace;
}
