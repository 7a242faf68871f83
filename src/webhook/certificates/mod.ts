/**
 * Self-managed certificates. In: a client of the cluster, the Service that serves the webhook, the Secret that its replicas
 * share, and the names of the MutatingWebhookConfigurations that call it. Out: a certificate that is always in force, and an
 * API server that trusts it.
 */
export { type WebhookService } from "./ca_bundle.ts";
export { LIFETIMES, type Lifetimes } from "./renewal.ts";
export { selfManagedCertificates, type SelfManagedOptions } from "./self_managed.ts";
