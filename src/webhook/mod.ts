/**
 * The mutating webhook. In: configuration and certificates, which may change while it runs, and AdmissionReviews over
 * HTTPS. Out: their answers; over plain HTTP what probes and Prometheus ask (`serveWebhook`); and what has to be applied to
 * run it in a cluster (`webhookManifests`).
 */
export { type ManifestOptions, webhookManifests, webhookTakeOvers, webhookUndo } from "./manifests/mod.ts";
export { type ServeOptions, serveWebhook } from "./serve.ts";
export { listenAddress } from "./server/listen_address.ts";
export { runWorker } from "./workers/worker_process.ts";
