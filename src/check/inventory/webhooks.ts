import { once } from "./observed.ts";
import { listOf, type Source } from "./source.ts";

const GROUP = "apis/admissionregistration.k8s.io/v1";

/** Webhook configurations, all of them. */
export function webhookFacts(source: Source) {
  return {
    mutatingWebhooks: once(() => listOf(source, GROUP, "mutatingwebhookconfigurations")),
    validatingWebhooks: once(() => listOf(source, GROUP, "validatingwebhookconfigurations")),
  };
}
