import type { World } from "../../core/world/world.ts";
import { type Collector, expositionOf, type Meter, meter, processMetrics } from "../../core/metrics/mod.ts";

/** Before every name, as pilot-agent has it. */
const PREFIX = "istio_agent_";

/** Whose metrics could not be had. */
export type ScrapedPart = "envoy" | "application" | "agent";

/** What the agent counts of itself. */
export interface AgentMetrics {
  readonly scrapes: Meter;
  /** Notes the time from the start of the agent to the first readiness. */
  readonly startupSeconds: Meter;
  scrapeFailed(part: ScrapedPart): void;
  /** Further metrics, whose names get the prefix too. */
  register(collector: Collector): void;
  /** All of it in Prometheus' text format. */
  text(): Promise<string>;
}

/** The metrics of an agent of this version, with names and helps of pilot-agent's. */
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
