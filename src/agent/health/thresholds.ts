import type { HealthReport } from "./options.ts";

/** So many results in a row make a change. */
export interface Thresholds {
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

/**
 * Makes reports of results. In: why a check failed, `undefined` if it did not. Out: a report, if this result makes the
 * workload another than was reported last. Source: pilot-agent's PerformApplicationHealthCheck.
 */
export function reporter({ successThreshold, failureThreshold }: Thresholds) {
  let reported: "healthy" | "unhealthy" | undefined;
  let last: "healthy" | "unhealthy" | undefined;
  let inARow = 0;
  return (problem: string | undefined): HealthReport | undefined => {
    const result = problem === undefined ? "healthy" : "unhealthy";
    inARow = result === last ? inARow + 1 : 1;
    last = result;
    const needed = result === "healthy" ? successThreshold : failureThreshold;
    if (result === reported || inARow < needed) return undefined;
    reported = result;
    return { problem };
  };
}
