/**
 * Formats of metrics. Only text formats can be concatenated, so the Accept header is limited to these formats. Source:
 * Istio, pilot/cmd/pilot-agent/status.
 */

/** Prometheus' text format, which every client accepts. */
export const TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS = "application/openmetrics-text";
const OPEN_METRICS_VERSIONS: readonly string[] = ["1.0.0", "0.0.1"];

/**
 * Accepted formats per endpoint. Envoy's metrics must not be OpenMetrics: that format ends with an end mark, but the
 * application's metrics follow.
 */
const ALLOWED = { envoy: ["text/*", "text/plain"], application: ["text/*", "text/plain", OPEN_METRICS] } as const;

const PLAIN_TEXT = "text/plain;version=0.0.4";

const RANGES: ReadonlyMap<string, string> = new Map([
  ["*/*", PLAIN_TEXT],
  ["*", PLAIN_TEXT],
  ["application/*", `${OPEN_METRICS};version=0.0.1`],
]);

/** Returns the Accept header for an endpoint, derived from the client's header. */
export function acceptFor(endpoint: keyof typeof ALLOWED, accept: string): string {
  const allowed: readonly string[] = ALLOWED[endpoint];
  const types = accept.split(",").map((type) => type.replace(/;\s*q\s*=[^;]*/gi, "").trim());
  const kept = new Set(types.map((type) => RANGES.get(type) ?? type).filter((type) => allowed.includes(nameOf(type))));
  return kept.size === 0 ? PLAIN_TEXT : [...kept].map(withQuality).join(",");
}

/** Returns the name of a media type, without parameters. */
function nameOf(type: string): string {
  return type.replace(/;.*/s, "").trim().toLowerCase();
}

/** Adds a quality that falls with the position: 0.3, 0.2, 0.1 for three types. */
function withQuality(type: string, index: number, all: readonly string[]): string {
  const digits = String(all.length).length;
  return `${type};q=0.${String(all.length - index).padStart(digits, "0")}`;
}

/** Returns the format for a Content-Type: text, unless the type is a known version of OpenMetrics. */
export function formatOf(contentType: string): string {
  if (nameOf(contentType) !== OPEN_METRICS) return TEXT_FORMAT;
  const [, version = "0.0.1"] = /;\s*version\s*=\s*"?([^\s;"]+)/i.exec(contentType) ?? [];
  return OPEN_METRICS_VERSIONS.includes(version) ? `${OPEN_METRICS}; version=${version}; charset=utf-8` : TEXT_FORMAT;
}

/** Whether a format ends with `# EOF`. */
export function isOpenMetrics(format: string): boolean {
  return format.startsWith(OPEN_METRICS);
}
