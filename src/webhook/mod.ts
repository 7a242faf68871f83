/**
 * The mutating webhook. `serveWebhook` answers AdmissionReviews over HTTPS, and serves probes and metrics over plain HTTP. It
 * reloads configuration and certificates when they change. `webhookManifests` returns the manifests that run the webhook in a
 * cluster. The server's code is loaded only when it runs.
 */
import type { World } from "../platform/world.ts";
import type { ServeOptions } from "./serve.ts";

export { type ManifestOptions, webhookManifests, webhookTakeOvers, webhookUndo } from "./manifests/mod.ts";
export type { ServeOptions };
export { listenAddress } from "../platform/serving/listen_address.ts";

/** Runs `webhook serve` until a signal arrives. Resolves with the exit code. */
export async function serveWebhook(world: World, options: ServeOptions): Promise<number> {
  return await (await import("./serve.ts")).serveWebhook(world, options);
}
