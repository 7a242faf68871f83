/** Serves probes and metrics over plain HTTP, to the kubelet and Prometheus. */
import type { Logger } from "../log.ts";
import type { HttpServer, World } from "../world.ts";
import { READING, type Route, router, textAnswer } from "./http.ts";
import { type ListenAddress, onFirst } from "./listen_address.ts";

/**
 * Limits for connections. The kubelet opens one for each probe; Prometheus keeps one. The limits are low, to leave file
 * descriptors for other work.
 */
const CONNECTIONS = {
  most: 32,
  mostOfAddress: 24,
  newOfAddress: 100,
  headBytes: 32 * 1024,
  firstRequest: 15_000,
  silence: 180_000,
} as const;

const EXPOSITION = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };

/** Returns the routes: readiness at `path`, liveness, and metrics, whose text `metrics` returns. */
export function statusRoutes(path: string, readiness: Route["answer"], metrics: () => Promise<string>): Route[] {
  return [
    { path, methods: READING, answer: readiness },
    { path: "/healthz", methods: READING, answer: () => textAnswer(200, "ok\n") },
    { path: "/metrics", methods: READING, answer: async () => textAnswer(200, await metrics(), EXPOSITION) },
  ];
}

/** Serves the routes. Rejects with a `MeshError` if the address cannot be bound. */
export async function serveStatus(
  { network }: Pick<World, "network">,
  log: Logger,
  address: ListenAddress,
  routes: readonly Route[],
): Promise<HttpServer> {
  const [handler, { port }] = [router(routes, log), address];
  return await onFirst(address, (hostname) => network.serve({ hostname, port, connections: CONNECTIONS }, handler));
}
