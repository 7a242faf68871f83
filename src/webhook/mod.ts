/**
 * The mutating webhook. In: configuration and certificates, which may change while it runs, and AdmissionReviews over
 * HTTPS. Out: their answers; over plain HTTP what probes and Prometheus ask (`serveWebhook`); and what has to be applied to
 * run it in a cluster (`webhookManifests`). The server is loaded when it runs.
 */
import type { World } from "../platform/world.ts";
import type { ServeOptions } from "./serve.ts";

export { type ManifestOptions, webhookManifests, webhookTakeOvers, webhookUndo } from "./manifests/mod.ts";
export type { ServeOptions };
export { listenAddress } from "../platform/serving/listen_address.ts";

/** `webhook serve`: serves reviews until a signal; resolves with the exit code. */
export async function serveWebhook(world: World, options: ServeOptions): Promise<number> {
  return await (await import("./serve.ts")).serveWebhook(world, options);
}
