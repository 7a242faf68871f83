/** What the control plane gives to the two pods: plain text between application and proxy, mutual TLS between proxies. */
import { sdsSecret } from "../../../support/agent/sds_secret.ts";
import { ADDRESS } from "./network.ts";

/** Identity of a pod. */
export function spiffe(pod: string): string {
  return `spiffe://cluster.local/ns/test/sa/${pod}`;
}

const TYPE = "type.googleapis.com/envoy";
const FILTERS = `${TYPE}.extensions.filters`;

/**
 * The resources of the client `a`: mutual TLS to port 8080 of `b`, other traffic passes. With `handshakes` each request has a
 * connection of its own, and no TLS session is resumed: both certificates are verified each time. With `extension` a filter of
 * that name comes as a resource of its own.
 */
export function askingResources({ handshakes = false, extension = "" } = {}) {
  const peer = `${ADDRESS.b}/32`.split("/");
  const match = { destination_port: 8080, prefix_ranges: [{ address_prefix: peer[0], prefix_len: Number(peer[1]) }] };
  const toPeer = {
    filter_chain_match: match,
    filters: [http("outbound", { rds: { route_config_name: "b", config_source: ADS } }, {}, discovered(extension))],
  };
  return [
    { ...listener("outbound", 15001), filter_chains: [toPeer], default_filter_chain: passthrough() },
    ...inbound("b"),
    routes("b", "outbound|8080||b"),
    peerCluster(handshakes),
    endpoints(),
    originalDestination("PassthroughCluster"),
    ...names(),
  ];
}

/** The resources of the server `b`, which accepts only `a`. */
export function answeringResources() {
  return [
    { ...listener("outbound", 15001), default_filter_chain: passthrough() },
    ...inbound("a"),
    originalDestination("PassthroughCluster"),
    ...names(),
  ];
}

const GRPC_NAME = "b.test.svc.cluster.local:9090";
const GRPC_CLUSTER = "outbound|9090||b.test.svc.cluster.local";

/** What a gRPC client asks for, as istiod writes it: mutual TLS to `b`, which must have this identity. */
export function grpcClientResources(identity: string) {
  const virtualHosts = [{ name: "all", domains: ["*"], routes: [route(GRPC_CLUSTER)] }];
  const tls = {
    "@type": `${TYPE}.extensions.transport_sockets.tls.v3.UpstreamTlsContext`,
    common_tls_context: grpcTlsContext([{ exact: identity }]),
  };
  return [
    {
      "@type": `${TYPE}.config.listener.v3.Listener`,
      name: GRPC_NAME,
      api_listener: { api_listener: http("outbound", { route_config: { virtual_hosts: virtualHosts } }).typed_config },
    },
    {
      "@type": `${TYPE}.config.cluster.v3.Cluster`,
      name: GRPC_CLUSTER,
      type: "EDS",
      eds_cluster_config: { eds_config: ADS },
      transport_socket: { name: "envoy.transport_sockets.tls", typed_config: tls },
    },
    endpoints(GRPC_CLUSTER, 9090),
  ];
}

/** What a gRPC server on port 9090 asks for: mutual TLS. */
export function grpcServerResources() {
  const routes = [{ match: { prefix: "/" }, non_forwarding_action: {} }];
  const chain = {
    filters: [http("inbound", { route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes }] } })],
    transport_socket: {
      name: "envoy.transport_sockets.tls",
      typed_config: {
        "@type": `${TYPE}.extensions.transport_sockets.tls.v3.DownstreamTlsContext`,
        require_client_certificate: true,
        common_tls_context: grpcTlsContext([]),
      },
    },
  };
  return [{
    "@type": `${TYPE}.config.listener.v3.Listener`,
    name: "xds.istio.io/grpc/lds/inbound/0.0.0.0:9090",
    address: { socket_address: { address: "0.0.0.0", port_value: 9090 } },
    filter_chains: [chain],
  }];
}

/** Certificate and roots from the files that the bootstrap names. */
function grpcTlsContext(names: readonly object[]) {
  return {
    tls_certificate_provider_instance: { instance_name: "default" },
    combined_validation_context: {
      default_validation_context: {
        ca_certificate_provider_instance: { instance_name: "default" },
        match_subject_alt_names: names,
      },
    },
  };
}

/** A listener that Envoy rejects. */
export const REFUSED = {
  "@type": `${TYPE}.config.listener.v3.Listener`,
  name: "refused",
  address: { socket_address: { address: "127.0.0.1", port_value: 1 } },
};

/** The name table. Only the address of `b` is in use. */
export const NAME_TABLE: Readonly<
  Record<string, { ips: string[]; registry: string; shortname?: string; namespace?: string }>
> = {
  "b.test.svc.cluster.local": { ips: [ADDRESS.b], registry: "Kubernetes", shortname: "b", namespace: "test" },
  "web.other.svc.cluster.local": {
    ips: ["192.0.2.10", "192.0.2.11", "2001:db8::10"],
    registry: "Kubernetes",
    shortname: "web",
    namespace: "other",
  },
  "outer.org": { ips: ["192.0.2.20"], registry: "External" },
  "*.wild.org": { ips: ["192.0.2.30"], registry: "External" },
  "six.org": { ips: ["2001:db8::6"], registry: "External" },
};

function names() {
  return [{ "@type": "type.googleapis.com/istio.networking.nds.v1.NameTable", table: NAME_TABLE }];
}

const ADS = { ads: {}, resource_api_version: "V3" };

/** A new connection, and so a new handshake, every few requests. */
function shortConnections(requests: number) {
  return {
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
      "@type": `${TYPE}.extensions.upstreams.http.v3.HttpProtocolOptions`,
      common_http_protocol_options: { max_requests_per_connection: requests },
      explicit_http_config: { http_protocol_options: {} },
    },
  };
}

function listener(name: "inbound" | "outbound", port: number) {
  return {
    "@type": `${TYPE}.config.listener.v3.Listener`,
    name,
    traffic_direction: name.toUpperCase(),
    address: { socket_address: { address: "0.0.0.0", port_value: port } },
    listener_filters: [
      { name: "original_dst", typed_config: { "@type": `${FILTERS}.listener.original_dst.v3.OriginalDst` } },
    ],
  };
}

/** Mutual TLS with one peer; a connection in plain text finds no filter chain. */
function inbound(peer: string) {
  const base = listener("inbound", 15006);
  const inspector = {
    name: "tls_inspector",
    typed_config: { "@type": `${FILTERS}.listener.tls_inspector.v3.TlsInspector` },
  };
  const tls = {
    "@type": `${TYPE}.extensions.transport_sockets.tls.v3.DownstreamTlsContext`,
    require_client_certificate: true,
  };
  const virtualHosts = [{ name: "all", domains: ["*"], routes: [route("InboundPassthroughCluster")] }];
  const chain = {
    filter_chain_match: { transport_protocol: "tls" },
    transport_socket: { name: "tls", typed_config: { ...tls, common_tls_context: tlsContext(peer) } },
    filters: [http("inbound", { route_config: { virtual_hosts: virtualHosts } }, {
      forward_client_cert_details: "SANITIZE_SET",
      set_current_client_cert_details: { uri: true },
    })],
  };
  const source = { upstream_bind_config: { source_address: { address: "127.0.0.6", port_value: 0 } } };
  return [
    { ...base, listener_filters: [...base.listener_filters, inspector], filter_chains: [chain] },
    { ...originalDestination("InboundPassthroughCluster"), ...source },
  ];
}

function peerCluster(handshakes: boolean) {
  const tls = {
    "@type": `${TYPE}.extensions.transport_sockets.tls.v3.UpstreamTlsContext`,
    common_tls_context: tlsContext("b"),
    ...handshakes ? { max_session_keys: 0 } : {},
  };
  return {
    "@type": `${TYPE}.config.cluster.v3.Cluster`,
    name: "outbound|8080||b",
    type: "EDS",
    eds_cluster_config: { eds_config: ADS },
    transport_socket: { name: "tls", typed_config: tls },
    typed_extension_protocol_options: shortConnections(handshakes ? 1 : 5),
  };
}

function endpoints(cluster = "outbound|8080||b", port = 8080) {
  const address = { socket_address: { address: ADDRESS.b, port_value: port } };
  return {
    "@type": `${TYPE}.config.endpoint.v3.ClusterLoadAssignment`,
    cluster_name: cluster,
    // gRPC leaves out a locality without a name or a weight.
    endpoints: [{ locality: {}, load_balancing_weight: 1, lb_endpoints: [{ endpoint: { address } }] }],
  };
}

/** Certificate and roots by SDS from the agent, as istiod writes it. */
function tlsContext(peer: string) {
  return {
    tls_certificate_sds_secret_configs: [sdsSecret("default")],
    combined_validation_context: {
      default_validation_context: {
        match_typed_subject_alt_names: [{ san_type: "URI", matcher: { exact: spiffe(peer) } }],
      },
      validation_context_sds_secret_config: sdsSecret("ROOTCA"),
    },
  };
}

function originalDestination(name: string) {
  return { "@type": `${TYPE}.config.cluster.v3.Cluster`, name, type: "ORIGINAL_DST", lb_policy: "CLUSTER_PROVIDED" };
}

function routes(name: string, cluster: string) {
  return {
    "@type": `${TYPE}.config.route.v3.RouteConfiguration`,
    name,
    virtual_hosts: [{ name: "all", domains: ["*"], routes: [route(cluster)] }],
  };
}

function route(cluster: string) {
  return { match: { prefix: "/" }, route: { cluster, timeout: "0s" } };
}

/** A filter of Wasm by ECDS, as istiod writes it. */
function discovered(name: string): object[] {
  if (name === "") return [];
  const types = ["wasm", "rbac"].map((each) => `${FILTERS}.http.${each}.v3.${each === "wasm" ? "Wasm" : "RBAC"}`);
  return [{
    name,
    config_discovery: { config_source: { ...ADS, initial_fetch_timeout: "0s" }, type_urls: types },
  }];
}

export interface WasmPlugin {
  readonly uri: string;
  readonly sha256?: string;
  readonly secret?: string;
  readonly version?: string;
  readonly isFailOpen?: boolean;
  readonly isStruct?: boolean;
}

/** The extension `test.wasm`, as istiod writes it for a WasmPlugin, or for an EnvoyFilter with a TypedStruct. */
export function wasmExtension(
  { uri, sha256 = "nil", secret, version = "1", isFailOpen = false, isStruct = false }: WasmPlugin,
) {
  const key_values = {
    ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION: version,
    ...secret === undefined ? {} : { ISTIO_META_WASM_IMAGE_PULL_SECRET: secret },
  };
  const remote = { http_uri: { uri, cluster: "_", timeout: "30s" }, sha256 };
  const vm = { runtime: "envoy.wasm.runtime.v8", code: { remote }, environment_variables: { key_values } };
  const config = { name: "test.wasm", vm_config: vm, failure_policy: isFailOpen ? "FAIL_OPEN" : "FAIL_CLOSED" };
  const type = `${FILTERS}.http.wasm.v3.Wasm`;
  return {
    "@type": `${TYPE}.config.core.v3.TypedExtensionConfig`,
    name: "test.wasm",
    typed_config: isStruct
      ? { "@type": "type.googleapis.com/udpa.type.v1.TypedStruct", type_url: type, value: { config } }
      : { "@type": type, config },
  };
}

function http(name: "inbound" | "outbound", routing: object, more: object = {}, filters: readonly object[] = []) {
  return {
    name: "http",
    typed_config: {
      "@type": `${FILTERS}.network.http_connection_manager.v3.HttpConnectionManager`,
      stat_prefix: name,
      ...routing,
      ...more,
      http_filters: [...filters, { name: "router", typed_config: { "@type": `${FILTERS}.http.router.v3.Router` } }],
    },
  };
}

function passthrough() {
  const proxy = {
    "@type": `${FILTERS}.network.tcp_proxy.v3.TcpProxy`,
    stat_prefix: "passthrough",
    cluster: "PassthroughCluster",
  };
  return { filters: [{ name: "tcp", typed_config: proxy }] };
}
