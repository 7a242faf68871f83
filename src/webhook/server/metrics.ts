import {
  type Collector,
  expositionOf,
  type Family,
  type Histogram,
  histogram,
  type Meter,
  meter,
} from "../../core/metrics/mod.ts";
import type { Answered } from "../review/mod.ts";

/** What the webhook counts. */
export interface WebhookMetrics {
  /** Requests to a path of reviews, of whatever kind. */
  readonly requests: Meter;
  /** Requests that were answered without a review, by `reason`. */
  readonly refusals: Meter;
  reviewed(reviewed: Answered, seconds: number): void;
  /** Who knows how many reviews are under way. */
  underWay(count: () => number): void;
  /** Further metrics. */
  register(collector: Collector): void;
  /** All of it in Prometheus' text format. */
  text(): Promise<string>;
}

/** Seconds: a review takes one millisecond or a few, and the API server waits 10 s. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Reasons of failures that are the template's. */
const TEMPLATE_REASONS: readonly string[] = ["template-failed", "template-unknown", "invalid-result"];

/** The counters of Istio's injector for each result. */
const ISTIO = { injected: "success", unchanged: "success", skipped: "skip", failed: "failure" } as const;

/** The metrics of a webhook of this version: those that Istio's injector has, by its names, and its own. */
export function webhookMetrics(version: string): WebhookMetrics {
  const parts = meters();
  parts.build.add({ component: "webhook", tag: version });
  const collectors = Object.values(parts).map(({ collect }): Collector => collect);
  return {
    requests: parts.requests,
    refusals: parts.refusals,
    reviewed: (reviewed, seconds) => count(parts, reviewed, seconds),
    underWay: (now) => void collectors.push(() => gauge("mesh_webhook_reviews_under_way", "Reviews under way.", now())),
    register: (collector) => void collectors.push(collector),
    async text() {
      const families = await Promise.all(collectors.map((collect) => collect()));
      return expositionOf(families.flat(), "");
    },
  };
}

/** A family of one number. */
export function gauge(name: string, help: string, value: number): readonly Family[] {
  return [{ name, help, type: "gauge", samples: [{ value }] }];
}

type Parts = ReturnType<typeof meters>;

function meters() {
  return {
    requests: meter("counter", "sidecar_injection_requests_total", "Total number of sidecar injection requests."),
    success: meter(
      "counter",
      "sidecar_injection_success_total",
      "Total number of successful sidecar injection requests.",
    ),
    failure: meter("counter", "sidecar_injection_failure_total", "Total number of failed sidecar injection requests."),
    skip: meter("counter", "sidecar_injection_skip_total", "Total number of skipped sidecar injection requests."),
    seconds: timer("sidecar_injection_time_seconds", "Total time taken for injection in seconds."),
    refusals: meter(
      "counter",
      "mesh_webhook_refused_requests_total",
      "Requests that were no readable review, by reason.",
    ),
    reviews: meter("counter", "mesh_webhook_reviews_total", "Reviews by result and reason."),
    templates: meter("counter", "mesh_webhook_template_errors_total", "Reviews that failed in a template."),
    build: meter("gauge", "mesh_webhook_build_info", "The version of the webhook; the value is always 1."),
  };
}

function timer(name: string, help: string): Histogram {
  return histogram(name, help, BOUNDS);
}

function count(parts: Parts, { result, reason }: Answered, seconds: number): void {
  parts.reviews.add({ result, reason });
  parts[ISTIO[result]].add();
  if (TEMPLATE_REASONS.includes(reason)) parts.templates.add();
  parts.seconds.observe(seconds);
}
