/** The status server of the agent: readiness, probes of the application, metrics, the end. Port 15020. */
import { messageOf } from "../../core/errors.ts";
import { type Logger, logText } from "../../core/log.ts";
import type { Clock, HttpHandler, World } from "../../core/world/world.ts";
import { type AgentMetrics, agentMetrics } from "../metrics/agent_metrics.ts";
import { metricsMerger } from "../metrics/merge.ts";
import type { ScrapeTarget } from "../metrics/scrape_targets.ts";
import { textAnswer } from "./http.ts";
import { probeHandler, type ProbeSettings } from "./probes/handler.ts";
import { adminAt } from "./readiness/admin.ts";
import { readyHandler } from "./readiness/handler.ts";
import { readinessProbe, type Surroundings } from "./readiness/probe.ts";
import { type Route, router } from "./routes.ts";

/** What the server is told. */
export interface StatusOptions {
  /** 0 takes a free one. */
  readonly port: number;
  readonly logger: Logger;
  /** Of this program, for the metrics. */
  readonly version: string;
  /** `undefined` if there is no Envoy (DISABLE_ENVOY). */
  readonly envoy: EnvoyPorts | undefined;
  readonly application: ProbeSettings;
  /** Where the application has metrics; none for another role than a sidecar's. */
  readonly scrapeTargets: readonly ScrapeTarget[];
  /** METRICS_LOCALHOST_ACCESS_ONLY. */
  readonly areMetricsLocal: boolean;
  /** What is between Envoy and the control plane. */
  readonly controlPlane?: ControlPlaneView;
  /** Why the agent ends, such as `received signal: terminated`; `undefined` while it does not. */
  readonly terminating: () => string | undefined;
  /** Somebody on this machine wants the agent to end. */
  readonly onQuit: () => void;
  /** Somebody on this machine wants Envoy to drain. */
  readonly onDrain: () => void;
}

/** What the server tells of the agent's parts that speak with the control plane. */
export interface ControlPlaneView extends Surroundings {
  /** The table of names as JSON; `undefined` if there is none. */
  nameTable(): string | undefined;
}

/** Where Envoy answers. */
export interface EnvoyPorts {
  /** The address of this machine in the family of the pod. */
  readonly adminHost: "127.0.0.1" | "::1" | "localhost";
  readonly adminPort: number;
  /** Of its own metrics; `undefined` to leave them out (PILOT_AGENT_MERGE_ENVOY_STATS). */
  readonly metricsPort: number | undefined;
}

/** A server that runs, or one that could not be started. */
export interface StatusServer {
  /** `undefined` if the port could not be had: the log says why. */
  readonly port: number | undefined;
  readonly metrics: AgentMetrics;
  /** Why the proxy is not ready; `undefined` if it is. */
  problem(): Promise<string | undefined>;
  /** Envoy was started anew: what was seen of the old one does not count. */
  forgetReadiness(): void;
  close(): Promise<void>;
}

/** Starts to serve on all interfaces. A port that cannot be had is logged and no error: the proxy is of use without. */
export async function startStatusServer(world: World, options: StatusOptions): Promise<StatusServer> {
  const { logger, envoy, terminating } = options;
  const admin = envoy === undefined ? undefined : adminAt(world.network, envoy.adminHost, envoy.adminPort);
  const probe = readinessProbe({ admin, terminating, surroundings: options.controlPlane });
  const metrics = agentMetrics(world, options.version);
  const bound = { port: options.port };
  const ready = readyHandler({ probe, logger, startupSeconds: metrics.startupSeconds, clock: world.clock });
  const answer = router([
    { path: "/healthz/ready", answer: ready },
    ...routesOf(world, options, metrics, () => bound.port),
  ]);
  const server = await serve(world, options, withoutFailure(answer, logger));
  bound.port = server?.port ?? options.port;
  return {
    port: server?.port,
    metrics,
    problem: async () => (await probe.check()).find(({ problem }) => problem !== undefined)?.problem,
    forgetReadiness: () => probe.forget(),
    close: async () => await server?.close(),
  };
}

function routesOf(world: World, options: StatusOptions, metrics: AgentMetrics, port: () => number): readonly Route[] {
  const { logger, envoy, scrapeTargets: targets, areMetricsLocal: isLocal } = options;
  const probes = probeHandler(world, options.application, port, logger.getChild("probes"));
  const scrape = metricsMerger(world, { envoyPort: envoy?.metricsPort, targets, metrics, logger });
  const quit = { path: "/quitquitquit", effect: "notifying pilot-agent to exit", action: options.onQuit };
  const drain = { path: "/drain", effect: "starting drain", action: options.onDrain };
  return [
    { path: "/metrics", isLocal, answer: scrape },
    { path: "/stats/prometheus", isLocal, answer: scrape },
    { path: "/debug/ndsz", isLocal: true, answer: () => nameTableAnswer(options.controlPlane) },
    { path: "/app-health/", answer: probes },
    { path: "/app-lifecycle/", answer: probes },
    ...[quit, drain].map((control): Route => ({
      path: control.path,
      isLocal: true,
      method: "POST",
      answer: controlHandler(control, logger, world.clock),
    })),
  ];
}

/** As pilot-agent: an empty object where there is no table. */
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

/** `::` takes connections of both families; a kernel without IPv6 has IPv4 alone. */
const ALL_INTERFACES = ["::", "0.0.0.0"];

async function serve({ network }: World, { port, logger }: StatusOptions, handler: HttpHandler) {
  const problems: string[] = [];
  for (const hostname of ALL_INTERFACES) {
    try {
      const server = await network.serve({ hostname, port }, handler);
      logger.info(`Opening status port ${server.port}`);
      return server;
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  logger.error(logText(`Error listening on status port: ${problems.join("; ")}; the agent goes on without it`));
  return undefined;
}

/** What such a request sets off. */
export interface Control {
  readonly path: string;
  /** For the log. */
  readonly effect: string;
  readonly action: () => void;
}

/** If the end of the request is not noticed, the action is taken after so long. */
const PATIENCE = 100;

/** Answers `OK`, and acts when the answer was sent: the action may end this process. */
export function controlHandler({ path, effect, action }: Control, logger: Logger, clock: Clock) {
  return (request: Request): Response => {
    logger.info(`handling ${path}, ${effect}`);
    const sent = new AbortController();
    request.signal.addEventListener("abort", () => sent.abort(), { once: true });
    clock.sleep(PATIENCE, sent.signal).then(action);
    return textAnswer(200, "OK");
  };
}
