import type { World } from "../../platform/world.ts";
import { type Collector, expositionOf, meter } from "../../base/metrics/mod.ts";
import { processMetrics } from "../../platform/process_metrics.ts";

const PREFIX = "istio_agent_";

export type ScrapedPart = "envoy" | "application" | "agent";

export type AgentMetrics = ReturnType<typeof agentMetrics>;

/** Creates the agent's metrics, with pilot-agent's names and help texts. */
export function agentMetrics(world: Pick<World, "files">, version: string) {
  const scrapes = meter("counter", "scrapes_total", "The total number of scrapes.");
  const failures = meter("counter", "scrape_failures_total", "The total number of failed scrapes.");
  const startup = "The time from the process starting to being marked ready.";
  const startupSeconds = meter("gauge", "startup_duration_seconds", startup);
  const build = meter("gauge", "build_info", "The version of the agent; the value is always 1.");
  const istioBuild = meter("gauge", "istio_build", "Istio component build info");
  for (const each of [build, istioBuild]) each.add({ component: "agent", tag: version });
  const own = [scrapes, failures, startupSeconds, build, istioBuild].map(({ collect }): Collector => collect);
  const collectors: Collector[] = [...own, () => processMetrics(world)];
  return {
    scrapes,
    /** Seconds from the agent's start to the first readiness. */
    startupSeconds,
    scrapeFailed: (type: ScrapedPart) => failures.add({ type }),
    /** Adds a source of metrics. Its metric names get the prefix too. */
    register: (collector: Collector) => void collectors.push(collector),
    /** Returns all metrics in Prometheus' text format. */
    text: () => expositionOf(collectors, PREFIX),
  };
}
