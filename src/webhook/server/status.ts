/** Probes and metrics over plain HTTP. The server runs from the start, before the first review can be answered. */
import type { Logger } from "../../platform/log.ts";
import type { World } from "../../platform/mod.ts";
import { VERSION } from "../../version.ts";
import { READING, type Route, router, textAnswer } from "../../platform/serving/http.ts";
import { type ListenAddress, onFirst } from "../../platform/serving/listen_address.ts";
import { type WebhookMetrics, webhookMetrics } from "./metrics.ts";

/** A condition of readiness. */
export interface Check {
  readonly name: string;
  /** The text if there is no problem. */
  readonly fine: string;
  readonly problem: () => string | undefined;
  /** Reviews can be answered despite the problem. */
  readonly isTolerable: boolean;
}

/** The running server. */
export interface StatusServer {
  readonly port: number;
  readonly metrics: WebhookMetrics;
  /** Its routes, for the review server. */
  readonly routes: readonly Route[];
  /** Sets why the webhook still waits: the answer of `/ready` until there are conditions. */
  readonly waitsBecause: (problem: () => string | undefined) => void;
  /** Sets the conditions of readiness. The server is not ready before. */
  depend(checks: readonly Check[]): void;
  close(): Promise<void>;
}

/** Limits of connections: the kubelet opens one for each probe, Prometheus keeps one. They leave descriptors for reviews. */
const CONNECTIONS = {
  most: 32,
  mostOfAddress: 24,
  newOfAddress: 100,
  headBytes: 32 * 1024,
  firstRequest: 15_000,
  silence: 180_000,
} as const;

const WAITS = "the webhook waits for its configuration and its certificate";

/** Starts the server. Rejects with a `MeshError` if it cannot listen. */
export async function startStatusServer({ network }: World, log: Logger, listen: ListenAddress): Promise<StatusServer> {
  const metrics = webhookMetrics(VERSION);
  let reason: () => string | undefined = () => undefined;
  const starting = () => [WAITS, reason() ?? []].flat().join(": ");
  let checks: readonly Check[] = [
    { name: "running", fine: "the webhook has started", problem: starting, isTolerable: false },
  ];
  const type = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
  const routes: Route[] = [
    { path: "/ready", methods: READING, answer: (request) => readyHandler(checks)(request) },
    { path: "/healthz", methods: READING, answer: () => textAnswer(200, "ok\n") },
    { path: "/metrics", methods: READING, answer: async () => textAnswer(200, await metrics.text(), type) },
  ];
  const handler = router(routes, log);
  const server = await onFirst(
    listen,
    (hostname) => network.serve({ hostname, port: listen.port, connections: CONNECTIONS }, handler),
  );
  return {
    port: server.port,
    metrics,
    routes,
    waitsBecause: (next) => void (reason = next),
    depend: (next) => void (checks = next),
    close: () => server.close(),
  };
}

/** Answers `/ready`: 200 while reviews can be answered. A line for each check, as in Kubernetes: with `?verbose`, and if not ready. */
export function readyHandler(checks: readonly Check[]) {
  return ({ url }: Request): Response => {
    const found = checks.map((check) => ({ check, problem: check.problem() }));
    const isReady = found.every(({ check, problem }) => problem === undefined || check.isTolerable);
    const isVerbose = new URL(url).searchParams.has("verbose");
    const lines = isVerbose || !isReady ? found.map(({ check, problem }) => line(check, problem)) : [];
    return textAnswer(isReady ? 200 : 503, `${lines.join("")}${isReady ? "ready" : "not ready"}\n`);
  };
}

/** `[+]`: no problem. `[!]`: a tolerable problem. `[-]`: a problem. */
function line({ name, fine, isTolerable }: Check, problem: string | undefined): string {
  if (problem === undefined) return `[+]${name} ok: ${fine}\n`;
  return `[${isTolerable ? "!" : "-"}]${name} failed: ${problem}\n`;
}
