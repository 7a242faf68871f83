/** Layouts of clusters and listeners in Istio's template. */
import { COMPACT, GO_MAP, type Layout, type LayoutOf, ONE_LINE, withInner } from "./layout.ts";

const NAMES = ["name", "alt_stat_name"];
const DNS = ["respect_dns_ttl", "dns_lookup_family"];
const POLICY = ["connect_timeout", "lb_policy"];
const OPTIONS = "typed_extension_protocol_options";
const HTTP_OPTIONS = `${OPTIONS}/envoy.extensions.upstreams.http.v3.HttpProtocolOptions`;
const ADDRESS = "load_assignment/endpoints/[]/lb_endpoints/[]/endpoint/address";

const ALL: Readonly<Record<string, LayoutOf>> = {
  [HTTP_OPTIONS]: { indent: 1 },
  [`${HTTP_OPTIONS}/explicit_http_config`]: { indent: 1 },
  "load_assignment/endpoints": { isTight: true },
  "load_assignment/endpoints/[]/lb_endpoints": { isTight: true },
  [ADDRESS]: { colon: ":" },
};

function inside(order: readonly string[], other: Readonly<Record<string, LayoutOf>> = {}): Layout {
  return withInner({ ...ALL, ...other }, { order: [...NAMES, ...order] });
}

function outside(order: readonly string[], other: Readonly<Record<string, LayoutOf>> = {}): Layout {
  return withInner({
    ...ALL,
    transport_socket: GO_MAP,
    upstream_connection_options: COMPACT,
    [`${ADDRESS}/socket_address`]: ONE_LINE,
    ...other,
  }, { order: [...NAMES, ...order], gap: 0 });
}

const SERVICE = ["type", "transport_socket", "upstream_connection_options", ...DNS, ...POLICY, OPTIONS];

export const CLUSTERS: Readonly<Record<string, Layout>> = {
  prometheus_stats: inside([]),
  agent: inside([]),
  "sds-grpc": inside(["type", OPTIONS]),
  "sds-files-grpc": inside(["type", OPTIONS]),
  "xds-grpc": inside([], { type: { colon: " : " } }),
  zipkin: outside(["transport_socket", "type", ...DNS, "dns_refresh_rate", ...POLICY]),
  lightstep: outside(["transport_socket", OPTIONS, "type", ...DNS, ...POLICY]),
  datadog_agent: outside(["transport_socket", "connect_timeout", "type", ...DNS, "lb_policy"]),
  envoy_metrics_service: outside(SERVICE),
  envoy_accesslog_service: outside(SERVICE, { upstream_connection_options: { ...COMPACT, gap: 2 } }),
  local_cluster: withInner({ "load_balancing_policy/policies": { isTight: true } }, { gap: 0 }),
};

const GAP = { gap: 0 };
const HTTP = "filter_chains/[]/filters/[]/typed_config";
const HOST = `${HTTP}/route_config/virtual_hosts/[]`;
const TLS = "filter_chains/[]/transport_socket/typed_config/common_tls_context";
const SECRETS = [
  "tls_certificate_sds_secret_configs/[]",
  "combined_validation_context/validation_context_sds_secret_config",
];

const METRICS = withInner({
  name: GAP,
  "address/socket_address/address": GAP,
  "additionalAddresses/[]/address/socket_address/address": GAP,
  [`${HTTP}/http_filters`]: { indent: 0, outdent: 2 },
});

const SECURED = withInner({
  ...Object.fromEntries(
    SECRETS.map((secret) => [`${TLS}/${secret}/sds_config/api_config_source/grpc_services`, ONE_LINE]),
  ),
  [`${HOST}/domains`]: ONE_LINE,
  [`${HOST}/routes/[]/match`]: ONE_LINE,
  [`${HOST}/routes/[]/route`]: ONE_LINE,
}, GAP);

const HEALTH = withInner({
  address: { indent: 3 },
  "listener_filters/[]/typed_config": { commas: "behind all" },
  [`${HTTP}/http_filters`]: { isTight: true },
});

/** Layout of a listener. The metrics listener comes first, TLS listeners follow, and the health listener is last. */
export const LISTENER: LayoutOf = (_value, index, count) => {
  if (index === 0) return METRICS;
  return index === count - 1 ? HEALTH : SECURED;
};
