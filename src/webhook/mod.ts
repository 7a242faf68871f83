/**
 * The mutating webhook. In: configuration and certificates, which may change while it runs, and AdmissionReviews over
 * HTTPS. Out: their answers; and over plain HTTP what probes and Prometheus ask (`serveWebhook`).
 */
export { type ServeOptions, serveWebhook } from "./serve.ts";
export { listenAddress } from "./server/listen_address.ts";
