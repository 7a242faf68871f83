/**
 * Prints the bootstrap as the exact text of Istio's template, so that a diff with pilot-agent's file shows only
 * differences of content. As in Istio, the text is not always valid JSON (trailing comma of the PROXY protocol filter,
 * escaped apostrophes), but Envoy can read it. Quotes in names are escaped.
 */
import { isMap, type ValueMap } from "../../../base/value.ts";
import { CLUSTERS, LISTENER } from "./resources.ts";
import { COMPACT, GO_JS, GO_MAP, type LayoutOf, ONE_LINE, ONE_WIDE_LINE, type Place, withInner } from "./layout.ts";
import { printLayout } from "./print_layout.ts";

export function istioText(bootstrap: ValueMap): string {
  return `${printLayout(bootstrap, BOOTSTRAP)}\n`;
}

/** Tags that Istio writes with the name first; all other tags begin with their regex. */
const NAME_FIRST = [
  ...["cluster_name", "http_conn_manager_prefix", "thread_name", "tcp_prefix", "response_code_class"],
  ...["http_conn_manager_listener_prefix", "listener_address", "mongo_prefix"],
  ...["authz_enforce_result", "authz_dry_run_action", "authz_dry_run_result"],
];

const TAG: LayoutOf = (tag) => isMap(tag) && NAME_FIRST.includes(String(tag["tag_name"])) ? {} : { order: ["regex"] };

/** Layout of a bootstrap extension. Metadata discovery, if present, precedes the internal listener. */
const EXTENSION: LayoutOf = (_extension, index, count) =>
  index === count - 1
    ? withInner({ "typed_config/@type": { colon: ":" } })
    : withInner({ "typed_config/value/config_source": ONE_WIDE_LINE });

const CLUSTER: LayoutOf = (cluster) => (isMap(cluster) ? CLUSTERS[String(cluster["name"])] : undefined) ?? {};

/** In Istio's template, a whitespace-only line follows the Datadog tracer. */
const TRACING: LayoutOf = (tracing) => JSON.stringify(tracing).includes("envoy.tracers.datadog") ? { gap: 0 } : {};

const after = (name: string): Place => ({ name, isGapBefore: false, comma: "own line" });
const afterGap = (name: string): Place => ({ name, isGapBefore: true, comma: "own line" });

const CLUSTER_PLACES = [
  afterGap("zipkin"),
  after("lightstep"),
  after("datadog_agent"),
  after("envoy_metrics_service"),
  afterGap("envoy_accesslog_service"),
  afterGap("local_cluster"),
];
const SINK_PLACES: readonly Place[] = [
  { name: "envoy.stat_sinks.metrics_service", isGapBefore: true, comma: "none" },
  { name: "envoy.stat_sinks.statsd", isGapBefore: true, comma: "with gaps" },
];
const PATTERNS = "stats_config/stats_matcher/inclusion_list/patterns";

const BOOTSTRAP = withInner({
  "node/locality": { isOpen: true, commas: "own line" },
  "node/metadata": GO_MAP,
  "layered_runtime/layers/[]/static_layer": GO_MAP,
  "bootstrap_extensions/[]": EXTENSION,
  "stats_config/stats_tags/[]": TAG,
  "stats_config/histogram_bucket_settings": COMPACT,
  [`${PATTERNS}/[]`]: { indent: 0 },
  [`${PATTERNS}/[]/safe_regex`]: { isTight: true },
  [`${PATTERNS}/[]/safe_regex/regex`]: { colon: ":", ...GO_JS },
  "static_resources/clusters": { places: CLUSTER_PLACES },
  "static_resources/clusters/[]": CLUSTER,
  "static_resources/listeners": { colon: ":" },
  "static_resources/listeners/[]": LISTENER,
  "cluster_manager/load_stats_config": { colon: ":", ...COMPACT },
  tracing: TRACING,
  stats_sinks: { gap: 0, places: SINK_PLACES },
  "stats_sinks/[]": { gap: 0 },
  "stats_sinks/[]/typed_config/address/socket_address": ONE_LINE,
}, {
  places: [after("tracing"), afterGap("stats_sinks"), afterGap("cluster_manager"), after("deferred_stat_options")],
});
