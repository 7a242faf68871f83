import { type Logger, logText } from "../../../platform/log.ts";
import type { Clock } from "../../../platform/world.ts";
import type { Meter } from "../../../base/metrics/mod.ts";
import { targetOf, textAnswer } from "../../http.ts";
import { isReady, type Readiness, type ReadinessProbe, type Stage } from "./probe.ts";

export interface ReadyOptions {
  readonly probe: ReadinessProbe;
  readonly logger: Logger;
  readonly startupSeconds: Meter;
  readonly clock: Clock;
}

/** Minimum milliseconds between two logs of the same problem: some clients poll twenty times a second. */
const REPEAT_INTERVAL = 2000;

/** Returns the readiness handler. `wasReady`: whether any response was 200; `undefined` before the first response. */
export function readyHandler({ probe, logger, startupSeconds, clock }: ReadyOptions) {
  let wasReady = false;
  let everReady: boolean | undefined;
  let logged = { problem: "", at: -Infinity };
  function logProblem({ stage, problem = "" }: Readiness[number]) {
    wasReady = false;
    // A proxy that is shutting down is not ready now, but may have been ready before.
    if (stage !== "running") everReady ??= false;
    const now = clock.monotonic();
    if (problem === logged.problem && now - logged.at < REPEAT_INTERVAL) return;
    logged = { problem, at: now };
    logger.warn(logText(`Envoy proxy is NOT ready: ${problem} (stage: ${stage})`));
  }
  function logReady() {
    if (everReady !== true) {
      const seconds = clock.monotonic() / 1000;
      startupSeconds.set(seconds);
      logger.info(`Readiness succeeded in ${seconds.toFixed(3)}s`);
    }
    if (!wasReady) logger.info("Envoy proxy is ready");
    everReady = wasReady = true;
    logged = { problem: "", at: -Infinity };
  }
  /** Serves `/healthz/ready` with 200 or 503; with `?verbose`, the body lists the stages. */
  async function answer(request: Request): Promise<Response> {
    const readiness = await probe.check();
    const failed = readiness.find(({ problem }) => problem !== undefined);
    if (failed === undefined) logReady();
    else logProblem(failed);
    const { query } = targetOf(request.url);
    const isVerbose = query !== "" && new URLSearchParams(query).has("verbose");
    return textAnswer(failed === undefined ? 200 : 503, isVerbose ? verboseText(readiness) : "");
  }
  return { answer, wasReady: () => everReady };
}

const MEANINGS: Readonly<Record<Stage, string>> = {
  admin: "Envoy's admin interface responds",
  config: "Envoy has its clusters and listeners",
  running: "the agent is not shutting down",
  server: "Envoy is live",
  workers: "Envoy's workers have started",
  names: "DNS has the mesh's names",
  grpc: "gRPC applications have their files",
};

/**
 * Returns the stages in the format of Kubernetes' `?verbose`: a line per stage, `[+]` passed or `[-]` failed, then the
 * verdict.
 */
function verboseText(readiness: Readiness): string {
  const lines = readiness.map(({ stage, problem }) => {
    return problem === undefined ? `[+]${stage} ok: ${MEANINGS[stage]}` : `[-]${stage} failed: ${problem}`;
  });
  return [...lines, isReady(readiness) ? "ready" : "not ready", ""].join("\n");
}
