/**
 * Reads the settings of Envoy's statistics from annotations and proxy configuration. Source: Istio's
 * bootstrap.getStatsOptions.
 */
import { readGoJson } from "../../json_fields.ts";
import { formatDuration, readDuration } from "../../../golang/duration.ts";
import { compareUtf8 } from "../../../golang/go_json.ts";
import { ANNOTATION, type AnnotationName } from "../../../istio/configuration.ts";
import { isList, isMap, mapAt, textsAt, type Value, type ValueMap } from "../../../base/value.ts";

/** Prefixes that are always kept, because readiness and metrics need them. */
const REQUIRED_PREFIXES = ["cluster_manager", "listener_manager", "server", "cluster.xds-grpc", "wasm"];
const REQUIRED_SUFFIXES = ["rbac.allowed", "rbac.denied", "shadow_allowed", "shadow_denied"];
/** Suffix of the statistics that show when the last connection of a drain has closed. */
const DRAIN_SUFFIX = "downstream_cx_active";
const REQUIRED_REGEXPS = ["vhost\\..*\\.route\\..*"];

/** Flush intervals in nanoseconds: Envoy's default, and Envoy's minimum. */
const DEFAULT_FLUSH = 5_000_000_000n;
const MIN_INTERVAL = 1_000_000n;

export interface StatsSources {
  readonly proxyConfig: ValueMap;
  readonly annotations: ReadonlyMap<string, string>;
  readonly addresses: readonly string[];
  readonly exitOnZero: boolean;
}

/** Reads the settings. Invalid values are ignored with a warning. */
export function statsSettings(sources: StatsSources, warnings: string[]) {
  const { proxyConfig, annotations, exitOnZero } = sources;
  const suffixes = exitOnZero ? [...REQUIRED_SUFFIXES, DRAIN_SUFFIX] : REQUIRED_SUFFIXES;
  return {
    extraTags: [
      ...new Set([
        ...textsAt(proxyConfig, "extraStatTags"),
        ...(annotations.get(ANNOTATION.extraStatTags) ?? "").split(","),
      ]),
    ].filter((tag) => tag !== ""),
    prefixes: inclusion(sources, "inclusionPrefixes", ANNOTATION.statsInclusionPrefixes, REQUIRED_PREFIXES),
    suffixes: inclusion(sources, "inclusionSuffixes", ANNOTATION.statsInclusionSuffixes, suffixes),
    regexps: inclusion(sources, "inclusionRegexps", ANNOTATION.statsInclusionRegexps, REQUIRED_REGEXPS),
    histogramBuckets: bucketsOf(annotations.get(ANNOTATION.statsHistogramBuckets), warnings),
    compression: proxyConfig["statsCompression"] !== false,
    ...intervals(annotations, warnings),
  };
}

/**
 * Returns the annotation's list, or else the proxy configuration's list, followed by the required patterns. A pattern
 * with `{pod_ip}` is repeated for each address of the pod.
 */
function inclusion(
  { proxyConfig, annotations, addresses }: StatsSources,
  field: string,
  annotation: AnnotationName,
  required: readonly string[],
): string[] {
  const text = annotations.get(annotation) ?? "";
  const asked = text !== "" ? text.split(",") : textsAt(mapAt(proxyConfig, "proxyStatsMatcher"), field);
  return [...asked, ...required].flatMap((pattern) =>
    pattern.includes("{pod_ip}") ? addresses.map((ip) => pattern.replaceAll("{pod_ip}", () => ip)) : [pattern]
  );
}

/** Parses buckets such as `{"prefix": [1, 5, 10]}`, and sorts them by prefix. */
function bucketsOf(text: string | undefined, warnings: string[]) {
  if (text === undefined) return [];
  const map = readGoJson(text);
  if (map === null || (isMap(map) && Object.values(map).every(isNumbers))) {
    return Object.entries(map ?? {}).sort(([a], [b]) => compareUtf8(a, b))
      .map(([prefix, buckets]) => ({ prefix, buckets: isList(buckets) ? buckets.map(Number) : [] }));
  }
  warnings.push(
    `The annotation "${ANNOTATION.statsHistogramBuckets}" is ignored: it is not a JSON object of number lists`,
  );
  return [];
}

function isNumbers(value: Value): boolean {
  return isList(value) && value.every((item) => typeof item === "number");
}

/**
 * Reads the intervals, in Envoy's format such as `10s`; `""` means Envoy's default. Envoy evicts only at a flush, so the
 * eviction interval must be a multiple of the flush interval.
 */
function intervals(annotations: ReadonlyMap<string, string>, warnings: string[]) {
  const flush = durationAt(annotations, ANNOTATION.statsFlushInterval, warnings);
  const eviction = durationAt(annotations, ANNOTATION.statsEvictionInterval, warnings);
  const each = (flush ?? DEFAULT_FLUSH) / 1000n;
  const isMultiple = eviction === undefined || (eviction / 1000n) % each === 0n;
  if (!isMultiple) {
    warnings.push(
      `The annotation "${ANNOTATION.statsEvictionInterval}" is ignored: it is not a multiple of the flush interval`,
    );
  }
  return {
    flushInterval: flush === undefined ? "" : envoyDuration(flush),
    evictionInterval: eviction === undefined || !isMultiple ? "" : envoyDuration(eviction),
  };
}

function durationAt(
  annotations: ReadonlyMap<string, string>,
  name: AnnotationName,
  warnings: string[],
): bigint | undefined {
  const text = annotations.get(name);
  if (text === undefined) return undefined;
  const duration = readDuration(text);
  if (typeof duration === "bigint" && duration >= MIN_INTERVAL) return duration;
  const reason = typeof duration === "bigint" ? "it is less than 1ms" : duration.reason;
  warnings.push(`The annotation "${name}" is ignored: "${text}" is not an interval: ${reason}`);
  return undefined;
}

/** Formats a duration for Envoy, which accepts seconds only, while Istio writes Go's format. */
function envoyDuration(nanoseconds: bigint): string {
  const text = formatDuration(nanoseconds);
  return /^[\d.]+s$/.test(text) ? text : `${Number(nanoseconds) / 1e9}s`;
}
