import { type Logger, logText } from "../../platform/log.ts";
import type { Clock, World } from "../../platform/world.ts";
import { healthCheck } from "./check.ts";
import type { HealthOptions, HealthReport, HealthReports } from "./options.ts";

/**
 * Checks Envoy and the application after the initial delay, then once per period. A slow check delays the next check.
 */
export function startHealth(world: World, options: HealthOptions): HealthReports & { close(): Promise<void> } {
  const end = new AbortController();
  const listeners = new Set<() => void>();
  let current: HealthReport | undefined;
  const check = healthCheck(world, options.check, options.timeoutSeconds, options.log);
  const report = thresholds(options);
  async function once(): Promise<void> {
    const made = report(await options.envoyProblem() ?? await check(end.signal));
    // An aborted check has no result.
    if (made === undefined || end.signal.aborted) return;
    current = made;
    logReport(options.log, made);
    for (const listener of listeners) listener();
  }
  const running = repeat(world.clock, options, once, end.signal);
  return {
    current: () => current,
    subscribe(changed) {
      const listener = () => changed();
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      end.abort();
      await running;
    },
  };
}

async function repeat(clock: Clock, options: HealthOptions, once: () => Promise<void>, signal: AbortSignal) {
  await clock.sleep(options.initialDelaySeconds * 1000, signal);
  while (!signal.aborted) {
    const due = clock.monotonic() + options.periodSeconds * 1000;
    await once();
    await clock.sleep(Math.max(0, due - clock.monotonic()), signal);
  }
}

function logReport(log: Logger, { problem }: HealthReport): void {
  if (problem === undefined) log.info("The workload is healthy");
  else log.warning(logText(`The workload is unhealthy: ${problem}`));
}

/**
 * Returns a function that takes the result of each check: a problem, or `undefined` if healthy. The function returns a
 * report once enough consecutive results show a change of health. Source: pilot-agent's PerformApplicationHealthCheck.
 */
export function thresholds(
  { successThreshold, failureThreshold }: Pick<HealthOptions, "successThreshold" | "failureThreshold">,
) {
  let reported: "healthy" | "unhealthy" | undefined;
  let last: "healthy" | "unhealthy" | undefined;
  let consecutive = 0;
  return (problem: string | undefined): HealthReport | undefined => {
    const result = problem === undefined ? "healthy" : "unhealthy";
    consecutive = result === last ? consecutive + 1 : 1;
    last = result;
    const needed = result === "healthy" ? successThreshold : failureThreshold;
    if (result === reported || consecutive < needed) return undefined;
    reported = result;
    return { problem };
  };
}
