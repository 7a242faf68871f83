/** What probes and Prometheus are told over plain HTTP: from the start, also while no review can be answered yet. */
import type { Logger } from "../../core/log.ts";
import type { World } from "../../core/world/mod.ts";
import { VERSION } from "../../version.ts";
import { textAnswer } from "./http.ts";
import { type ListenAddress, onFirst } from "./listen_address.ts";
import { type Check, readyHandler } from "./readiness.ts";
import { READING, type Route, router } from "./routes.ts";
import { type WebhookMetrics, webhookMetrics } from "./metrics.ts";

/** The server, running. */
export interface StatusServer {
  readonly port: number;
  readonly metrics: WebhookMetrics;
  /** What it answers, for another server to answer too. */
  readonly routes: readonly Route[];
  /** What readiness depends on from now on; it is not ready before. */
  depend(checks: readonly Check[]): void;
  close(): Promise<void>;
}

const STARTING: Check = {
  name: "running",
  fine: "the webhook has started",
  problem: () => "the webhook waits for its configuration and its certificate",
  isTolerable: false,
};

/** Starts it. Rejects with a `MeshError` for an address that cannot be had. */
export async function openStatus({ network }: World, log: Logger, listen: ListenAddress): Promise<StatusServer> {
  const metrics = webhookMetrics(VERSION);
  let checks: readonly Check[] = [STARTING];
  const routes = statusRoutes(() => checks, metrics);
  const handler = router(routes, log);
  const server = await onFirst(listen, (hostname) => network.serve({ hostname, port: listen.port }, handler));
  return {
    port: server.port,
    metrics,
    routes,
    depend: (next) => void (checks = next),
    close: () => server.close(),
  };
}

function statusRoutes(checks: () => readonly Check[], metrics: WebhookMetrics): readonly Route[] {
  const type = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
  return [
    { path: "/ready", methods: READING, answer: (request) => readyHandler(checks())(request) },
    { path: "/healthz", methods: READING, answer: () => textAnswer(200, "ok\n") },
    { path: "/metrics", methods: READING, answer: async () => textAnswer(200, await metrics.text(), type) },
  ];
}
