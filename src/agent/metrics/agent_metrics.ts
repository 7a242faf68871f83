import type { World } from "../../platform/world.ts";
import { type Collector, expositionOf, type Meter, meter } from "../../base/metrics/mod.ts";
import { processMetrics } from "../../platform/process_metrics.ts";

/** pilot-agent's prefix of all names. */
const PREFIX = "istio_agent_";

export type ScrapedPart = "envoy" | "application" | "agent";

export interface AgentMetrics {
  readonly scrapes: Meter;
  /** Seconds from the agent's start to the first readiness. */
  readonly startupSeconds: Meter;
  scrapeFailed(part: ScrapedPart): void;
  /** Names get the prefix too. */
  register(collector: Collector): void;
  /** Prometheus' text format. */
  text(): Promise<string>;
}

/** Names and help texts are pilot-agent's. */
export function agentMetrics(world: Pick<World, "files">, version: string): AgentMetrics {
  const scrapes = meter("counter", "scrapes_total", "The total number of scrapes.");
  const failures = meter("counter", "scrape_failures_total", "The total number of failed scrapes.");
  const startup = "The time from the process starting to being marked ready.";
  const startupSeconds = meter("gauge", "startup_duration_seconds", startup);
  const build = meter("gauge", "build_info", "The version of the agent; the value is always 1.");
  build.add({ component: "agent", tag: version });
  const own = [scrapes, failures, startupSeconds, build].map(({ collect }): Collector => collect);
  const collectors: Collector[] = [...own, () => processMetrics(world)];
  return {
    scrapes,
    startupSeconds,
    scrapeFailed: (type) => failures.add({ type }),
    register: (collector) => void collectors.push(collector),
    async text() {
      const families = await Promise.all(collectors.map((collect) => collect()));
      return expositionOf(families.flat(), PREFIX);
    },
  };
}
