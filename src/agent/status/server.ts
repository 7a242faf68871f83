/** The status server: readiness, application probes, metrics, quit and drain. */
import { messageOf } from "../../base/errors.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { HttpHandler, World } from "../../platform/world.ts";
import { type AgentMetrics, agentMetrics } from "../metrics/agent_metrics.ts";
import { metricsMerger } from "../metrics/merge.ts";
import type { ScrapeTarget } from "../metrics/scrape_targets.ts";
import { textAnswer } from "../http.ts";
import { probeHandler, type ProbeSettings } from "./probes/handler.ts";
import { adminAt } from "./readiness/admin.ts";
import { readyHandler } from "./readiness/handler.ts";
import { type ControlPlaneProblems, readinessProbe } from "./readiness/probe.ts";
import { type Route, router } from "./routes.ts";

export interface StatusOptions {
  /** Status port; 0 means any free port. */
  readonly port: number;
  readonly logger: Logger;
  readonly version: string;
  /** `undefined` without Envoy (DISABLE_ENVOY). */
  readonly envoy: EnvoyPorts | undefined;
  readonly application: ProbeSettings;
  readonly scrapeTargets: readonly ScrapeTarget[];
  readonly areMetricsLocal: boolean;
  readonly controlPlane?: () => ControlPlaneView | undefined;
  /** Returns why the agent is shutting down, or `undefined`. */
  readonly terminating: () => string | undefined;
  readonly onQuit: () => void;
  readonly onDrain: () => void;
}

export interface ControlPlaneView extends ControlPlaneProblems {
  nameTable(): string | undefined;
}

export interface EnvoyPorts {
  /** Loopback address in the pod's address family. */
  readonly adminHost: "127.0.0.1" | "::1" | "localhost";
  readonly adminPort: number;
  /** Envoy's metrics port; `undefined` excludes Envoy's metrics (PILOT_AGENT_MERGE_ENVOY_STATS). */
  readonly metricsPort: number | undefined;
}

export type StatusServer = Awaited<ReturnType<typeof startStatusServer>>;

/**
 * Serves on all interfaces. If the port is not available, only logs an error, because the proxy works without the
 * status server.
 */
export async function startStatusServer(world: World, options: StatusOptions) {
  const { logger, envoy, terminating } = options;
  const admin = envoy === undefined ? undefined : adminAt(world.network, envoy.adminHost, envoy.adminPort);
  const probe = readinessProbe({ admin, terminating, controlPlane: options.controlPlane });
  const metrics = agentMetrics(world, options.version);
  const bound = { port: options.port };
  const ready = readyHandler({ probe, logger, startupSeconds: metrics.startupSeconds, clock: world.clock });
  const answer = router([
    { path: "/healthz/ready", answer: ready.answer },
    ...routesOf(world, options, metrics, () => bound.port),
  ]);
  const server = await serve(world, options, withoutFailure(answer, logger));
  bound.port = server?.port ?? options.port;
  return {
    /** The port in use; `undefined` if the port is not available, in which case the log contains the reason. */
    port: server?.port,
    metrics,
    problem: async () => (await probe.check()).find(({ problem }) => problem !== undefined)?.problem,
    /** Whether the proxy was ready at least once; `undefined` if readiness has not been checked yet. */
    wasReady: ready.wasReady,
    forgetReadiness: () => probe.forget(),
    close: async () => await server?.close(),
  };
}

function routesOf(world: World, options: StatusOptions, metrics: AgentMetrics, port: () => number): readonly Route[] {
  const { logger, envoy, scrapeTargets: targets, areMetricsLocal: isLocal } = options;
  const probes = probeHandler(world, options.application, port, logger.getChild("probes"));
  const scrape = metricsMerger(world, { envoyPort: envoy?.metricsPort, targets, metrics, logger });
  return [
    { path: "/metrics", isLocal, answer: scrape },
    { path: "/stats/prometheus", isLocal, answer: scrape },
    { path: "/debug/ndsz", isLocal: true, answer: () => nameTableAnswer(options.controlPlane?.()) },
    { path: "/app-health/", answer: probes },
    { path: "/app-lifecycle/", answer: probes },
    controlRoute("/quitquitquit", "notifying pilot-agent to exit", options.onQuit),
    controlRoute("/drain", "starting drain", options.onDrain),
  ];

  /** Returns a route that responds `OK` before it acts, because the action may end this process. */
  function controlRoute(path: string, effect: string, action: () => void): Route {
    const answer = (request: Request) => {
      logger.info(`handling ${path}, ${effect}`);
      const sent = new AbortController();
      request.signal.addEventListener("abort", () => sent.abort(), { once: true });
      world.clock.sleep(ACTION_DELAY, sent.signal).then(action);
      return textAnswer(200, "OK");
    };
    return { path, isLocal: true, method: "POST", answer };
  }
}

/** Delay in milliseconds after which the action runs even if the end of the request is missed. */
const ACTION_DELAY = 100;

/** Returns the name table. Without a table, returns an empty object and 404, as in pilot-agent. */
function nameTableAnswer(plane: ControlPlaneView | undefined): Response {
  const table = plane?.nameTable();
  const headers = { "content-type": "application/json" };
  return new Response(table ?? "{}", { status: table === undefined ? 404 : 200, headers });
}

function withoutFailure(answer: HttpHandler, logger: Logger): HttpHandler {
  return async (request, remote) => {
    try {
      return await answer(request, remote);
    } catch (error) {
      logger.error(logText(`Answering ${request.method} "${request.url}" failed: ${messageOf(error)}`));
      return textAnswer(500, "");
    }
  };
}

/**
 * Connection limits: probes, scrapes and `wait` need few connections. Even the slowest response, to a probe, takes less
 * than `silence`.
 */
const LIMITS = { most: 500, silence: 180_000 } as const;

/** Addresses to try: `::` accepts both families, but a kernel without IPv6 needs 0.0.0.0. */
const ALL_INTERFACES = ["::", "0.0.0.0"];

async function serve({ network }: World, { port, logger }: StatusOptions, handler: HttpHandler) {
  const problems: string[] = [];
  const failed = (reason: string) =>
    logger.error(logText(`Cannot accept connections on status port ${port}: ${reason}; its connections are closed`));
  for (const hostname of ALL_INTERFACES) {
    try {
      const server = await network.serve({ hostname, port, failed, limits: LIMITS }, handler);
      logger.info(`Opening status port ${server.port}`);
      return server;
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  logger.error(
    logText(`Error listening on status port: ${problems.join("; ")}; the agent continues without the status server`),
  );
  return undefined;
}
