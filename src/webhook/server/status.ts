/** Serves probes and metrics over plain HTTP. This server starts before the webhook can answer reviews. */
import type { Logger } from "../../platform/log.ts";
import type { World } from "../../platform/mod.ts";
import { VERSION } from "../../version.ts";
import { type Route, textAnswer } from "../../platform/serving/http.ts";
import type { ListenAddress } from "../../platform/serving/listen_address.ts";
import { serveStatus, statusRoutes } from "../../platform/serving/status_server.ts";
import { type WebhookMetrics, webhookMetrics } from "./metrics.ts";

export interface Check {
  readonly name: string;
  /** Text to show if the check passes. */
  readonly fine: string;
  readonly problem: () => string | undefined;
  /** Whether the webhook can answer reviews despite the problem. */
  readonly isTolerable: boolean;
}

export interface StatusServer {
  readonly port: number;
  readonly metrics: WebhookMetrics;
  /** The routes of this server, so that the review server can serve them too. */
  readonly routes: readonly Route[];
  /** Sets the function that returns why the webhook is waiting. `/ready` shows the reason until `depend` is called. */
  readonly waitsBecause: (problem: () => string | undefined) => void;
  /** Sets the readiness checks. Until then, the webhook is not ready. */
  depend(checks: readonly Check[]): void;
  close(): Promise<void>;
}

const WAITS = "the webhook is waiting for its configuration and certificate";

/** Starts the server. Rejects with a `MeshError` if it cannot listen. */
export async function startStatusServer(world: World, log: Logger, listen: ListenAddress): Promise<StatusServer> {
  const metrics = webhookMetrics(VERSION);
  let reason: () => string | undefined = () => undefined;
  const starting = () => [WAITS, reason() ?? []].flat().join(": ");
  let checks: readonly Check[] = [
    { name: "running", fine: "the webhook has started", problem: starting, isTolerable: false },
  ];
  const routes = statusRoutes("/ready", (request) => readyHandler(checks)(request), metrics.text);
  const server = await serveStatus(world, log, listen, routes);
  return {
    port: server.port,
    metrics,
    routes,
    waitsBecause: (next) => void (reason = next),
    depend: (next) => void (checks = next),
    close: () => server.close(),
  };
}

/** Answers `/ready` with status 200 or 503. Lists the checks if not ready, or with `?verbose`, as in Kubernetes. */
export function readyHandler(checks: readonly Check[]) {
  return ({ url }: Request): Response => {
    const found = checks.map((check) => ({ check, problem: check.problem() }));
    const isReady = found.every(({ check, problem }) => problem === undefined || check.isTolerable);
    const isVerbose = new URL(url).searchParams.has("verbose");
    const lines = isVerbose || !isReady ? found.map(({ check, problem }) => line(check, problem)) : [];
    return textAnswer(isReady ? 200 : 503, `${lines.join("")}${isReady ? "ready" : "not ready"}\n`);
  };
}

/** Formats a check. `[+]`: passed. `[!]`: failed, but tolerable. `[-]`: failed. */
function line({ name, fine, isTolerable }: Check, problem: string | undefined): string {
  if (problem === undefined) return `[+]${name} ok: ${fine}\n`;
  return `[${isTolerable ? "!" : "-"}]${name} failed: ${problem}\n`;
}
