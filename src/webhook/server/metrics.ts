/** The webhook's metrics: metrics of Istio's injector under the same names, and additional metrics. */
import { type Collector, expositionOf, type Family, histogram, type Meter, meter } from "../../base/metrics/mod.ts";
import type { Clock } from "../../platform/world.ts";
import type { Reviewed } from "../review/review_pod.ts";
import type { Source } from "../sources/source.ts";

export interface WebhookMetrics {
  /** Counter of requests to a review path. */
  readonly requests: Meter;
  /** Counter of requests that were rejected without a review. The label `reason` says why. */
  readonly refusals: Meter;
  reviewed(reviewed: Reviewed, seconds: number): void;
  inFlight(count: () => number): void;
  register(collector: Collector): void;
  /** Returns all metrics in Prometheus' text format. */
  text(): Promise<string>;
}

/** Histogram bounds in seconds. A review takes a few milliseconds, and the API server waits up to 10 s. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Reasons that count as template errors. */
const TEMPLATE_REASONS: readonly string[] = ["template-failed", "template-unknown", "invalid-result"];

/** The counter of Istio's injector that each result increments. */
const ISTIO = { injected: "success", unchanged: "success", skipped: "skip", failed: "failure" } as const;

/** Creates the metrics. `version` is exposed in the build info. */
export function webhookMetrics(version: string): WebhookMetrics {
  const parts = meters();
  parts.build.add({ component: "webhook", tag: version });
  const collectors = Object.values(parts).map(({ collect }): Collector => collect);
  return {
    requests: parts.requests,
    refusals: parts.refusals,
    reviewed({ result, reason }, seconds) {
      parts.reviews.add({ result, reason });
      parts[ISTIO[result]].add();
      if (TEMPLATE_REASONS.includes(reason)) parts.templates.add();
      parts.seconds.observe(seconds);
    },
    inFlight: (now) => void collectors.push(() => gauge("mesh_webhook_reviews_under_way", "Reviews in flight.", now())),
    register: (collector) => void collectors.push(collector),
    text: () => expositionOf(collectors),
  };
}

export function gauge(name: string, help: string, value: number): readonly Family[] {
  return [{ name, help, type: "gauge", samples: [{ value }] }];
}

function meters() {
  const counter = (name: string, help: string) => meter("counter", name, help);
  return {
    requests: counter("sidecar_injection_requests_total", "Total number of sidecar injection requests."),
    success: counter("sidecar_injection_success_total", "Total number of successful sidecar injection requests."),
    failure: counter("sidecar_injection_failure_total", "Total number of failed sidecar injection requests."),
    skip: counter("sidecar_injection_skip_total", "Total number of skipped sidecar injection requests."),
    seconds: histogram("sidecar_injection_time_seconds", "Total time taken for injection in seconds.", BOUNDS),
    refusals: counter("mesh_webhook_refused_requests_total", "Requests without a readable review, by reason."),
    reviews: counter("mesh_webhook_reviews_total", "Reviews by result and reason."),
    templates: counter("mesh_webhook_template_errors_total", "Reviews that failed in a template."),
    build: meter("gauge", "mesh_webhook_build_info", "The version of the webhook; the value is always 1."),
  };
}

/** Creates the metrics of a source: whether its newest value is in force, since when, and the number of changes. */
export function sourceMetrics(name: string, source: Source<unknown>, clock: Clock): readonly Collector[] {
  const changes = meter("counter", `mesh_webhook_${name}_changes_total`, `Changes of the ${name}, by result.`);
  let since = seconds(clock.now());
  source.onChange(() => {
    const isAccepted = source.problem() === undefined;
    changes.add({ result: isAccepted ? "accepted" : "refused" });
    if (isAccepted) since = seconds(clock.now());
  });
  const valid = `1 if the newest ${name} is in force, 0 if it was rejected.`;
  const loaded = `Time when the current ${name} was loaded, in seconds since 1970.`;
  return [
    changes.collect,
    () => gauge(`mesh_webhook_${name}_valid`, valid, source.problem() === undefined ? 1 : 0),
    () => gauge(`mesh_webhook_${name}_loaded_timestamp_seconds`, loaded, since),
  ];
}

export function seconds(date: Date): number {
  return date.getTime() / 1000;
}
