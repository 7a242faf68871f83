/**
 * Formats of metrics. Only text formats can be concatenated, so the Accept header is limited to these formats. Source:
 * Istio, pilot/cmd/pilot-agent/status.
 */

/** Prometheus' text format, which every client accepts. */
export const TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS = "application/openmetrics-text";
const OPEN_METRICS_FORMATS: Readonly<Record<string, string>> = {
  "1.0.0": `${OPEN_METRICS}; version=1.0.0; charset=utf-8`,
  "0.0.1": `${OPEN_METRICS}; version=0.0.1; charset=utf-8`,
};

/**
 * Accepted formats per endpoint. More metrics follow Envoy's metrics, which therefore must not end with OpenMetrics'
 * end mark.
 */
const ALLOWED = { envoy: ["text/*", "text/plain"], application: ["text/*", "text/plain", OPEN_METRICS] } as const;

const PLAIN_TEXT: MediaType = { name: "text/plain", parameters: new Map([["version", "0.0.4"]]) };
const PLAIN_OPEN_METRICS: MediaType = { name: OPEN_METRICS, parameters: new Map([["version", "0.0.1"]]) };
const FALLBACK = "text/plain;version=0.0.4";

const RANGES: Readonly<Record<string, MediaType>> = {
  "*/*": PLAIN_TEXT,
  "*": PLAIN_TEXT,
  "application/*": PLAIN_OPEN_METRICS,
};

/** Returns the Accept header for an endpoint, derived from the client's header. */
export function acceptFor(endpoint: keyof typeof ALLOWED, accept: string): string {
  const allowed: readonly string[] = ALLOWED[endpoint];
  const wanted = accept.split(",").map(parseMediaType);
  const kept = new Map<string, MediaType>();
  for (const type of wanted) {
    if (type === undefined) return FALLBACK;
    const simple = RANGES[type.name] ??
      { name: type.name, parameters: new Map([...type.parameters].filter(([key]) => key !== "q")) };
    if (allowed.includes(simple.name) && !kept.has(formatMediaType(simple))) kept.set(formatMediaType(simple), simple);
  }
  return kept.size === 0 ? FALLBACK : [...kept.values()].map(withQuality).join(",");
}

/** Formats a media type with a quality that falls with its position: 0.3, 0.2, 0.1 for three types. */
function withQuality({ name, parameters }: MediaType, index: number, all: readonly unknown[]): string {
  const digits = String(all.length).length;
  const quality = `0.${String(all.length - index).padStart(digits, "0")}`;
  return formatMediaType({ name, parameters: new Map([...parameters, ["q", quality]]) });
}

/** Returns the format for a Content-Type: text, unless the type is a known version of OpenMetrics. */
export function formatOf(contentType: string): string {
  const type = parseMediaType(contentType);
  if (type?.name !== OPEN_METRICS) return TEXT_FORMAT;
  return OPEN_METRICS_FORMATS[type.parameters.get("version") || "0.0.1"] ?? TEXT_FORMAT;
}

/** Whether a format ends with `# EOF`. */
export function isOpenMetrics(format: string): boolean {
  return format.startsWith(OPEN_METRICS);
}

/** A media type in lower case. */
export interface MediaType {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const PARAMETER =
  /^\s*;\s*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)\s*=\s*(?:([!#$%&'*+\-.^_`|~0-9A-Za-z]+)|"((?:[^"\\]|\\.)*)")\s*/;

/** Parses a media type; `undefined` if invalid. */
export function parseMediaType(text: string): MediaType | undefined {
  const semicolon = text.indexOf(";");
  const name = (semicolon < 0 ? text : text.slice(0, semicolon)).trim().toLowerCase();
  const parts = name.split("/");
  if (parts.length > 2 || !parts.every((part) => TOKEN.test(part))) return undefined;
  const parameters = parametersOf(semicolon < 0 ? "" : text.slice(semicolon));
  return parameters === undefined ? undefined : { name, parameters };
}

function parametersOf(text: string): Map<string, string> | undefined {
  const parameters = new Map<string, string>();
  let rest = text;
  for (let found = PARAMETER.exec(rest); found !== null; found = PARAMETER.exec(rest)) {
    const [whole, key = "", plain, quoted = ""] = found;
    if (parameters.has(key.toLowerCase())) return undefined;
    parameters.set(key.toLowerCase(), plain ?? quoted.replaceAll(/\\(.)/g, "$1"));
    rest = rest.slice(whole.length);
  }
  return /^[\s;]*$/.test(rest) ? parameters : undefined;
}

/** Formats a media type, with sorted parameters and quotes only where necessary. */
export function formatMediaType({ name, parameters }: MediaType): string {
  const pairs = [...parameters].sort(([a], [b]) => a < b ? -1 : 1);
  return [name, ...pairs.map(([key, value]) => `${key}=${TOKEN.test(value) ? value : quote(value)}`)].join("; ");
}

function quote(value: string): string {
  return `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
}
