/**
 * Formats of metrics. What several endpoints answer is joined, which only texts can be: an Accept field is reduced to
 * texts before it is passed on (Istio, pilot/cmd/pilot-agent/status: allowedContentTypes, negotiateMetricsFormat).
 */
import { formatMediaType, type MediaType, parseMediaType } from "./media_type.ts";

/** The format of Prometheus' text, which every client reads. */
export const TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS = "application/openmetrics-text";
const OPEN_METRICS_FORMATS: Readonly<Record<string, string>> = {
  "1.0.0": `${OPEN_METRICS}; version=1.0.0; charset=utf-8`,
  "0.0.1": `${OPEN_METRICS}; version=0.0.1; charset=utf-8`,
};

/** What may be asked of whom. Envoy's metrics come before others, so they must have no end mark: no OpenMetrics. */
const ALLOWED = {
  envoy: ["text/*", "text/plain"],
  application: ["text/*", "text/plain", OPEN_METRICS],
} as const;

const PLAIN_TEXT: MediaType = { name: "text/plain", parameters: new Map([["version", "0.0.4"]]) };
const PLAIN_OPEN_METRICS: MediaType = { name: OPEN_METRICS, parameters: new Map([["version", "0.0.1"]]) };
const FALLBACK = "text/plain;version=0.0.4";

/** Types that stand for many, and the simplest of the many. */
const RANGES: Readonly<Record<string, MediaType>> = {
  "*/*": PLAIN_TEXT,
  "*": PLAIN_TEXT,
  "application/*": PLAIN_OPEN_METRICS,
};

/** The Accept field for an endpoint, from that of the client. */
export function acceptFor(endpoint: keyof typeof ALLOWED, accept: string): string {
  const allowed: readonly string[] = ALLOWED[endpoint];
  const wanted = accept.split(",").map(parseMediaType);
  const kept = new Map<string, MediaType>();
  for (const type of wanted) {
    if (type === undefined) return FALLBACK;
    const simple = RANGES[type.name] ?? withoutQuality(type);
    if (allowed.includes(simple.name) && !kept.has(formatMediaType(simple))) kept.set(formatMediaType(simple), simple);
  }
  return kept.size === 0 ? FALLBACK : [...kept.values()].map(withQuality).join(",");
}

function withoutQuality({ name, parameters }: MediaType): MediaType {
  return { name, parameters: new Map([...parameters].filter(([key]) => key !== "q")) };
}

/** The order is the preference: of three 0.3, 0.2, 0.1. */
function withQuality({ name, parameters }: MediaType, index: number, all: readonly unknown[]): string {
  const digits = String(all.length).length;
  const quality = `0.${String(all.length - index).padStart(digits, "0")}`;
  return formatMediaType({ name, parameters: new Map([...parameters, ["q", quality]]) });
}

/** The format that a Content-Type names; text for all that is not OpenMetrics of a known version. */
export function formatOf(contentType: string): string {
  const type = parseMediaType(contentType);
  if (type?.name !== OPEN_METRICS) return TEXT_FORMAT;
  return OPEN_METRICS_FORMATS[type.parameters.get("version") || "0.0.1"] ?? TEXT_FORMAT;
}

/** Whether a format ends with the mark `# EOF`. */
export function isOpenMetrics(format: string): boolean {
  return format.startsWith(OPEN_METRICS);
}
