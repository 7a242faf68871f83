/** The listeners and clusters of a sidecar as files, similar to those from istiod. */

const EXTENSIONS = "type.googleapis.com/envoy.extensions.filters";

/** Outbound traffic goes to 15001, inbound to 15006. */
export function listeners() {
  return [listener("outbound", 15001, "PassthroughCluster"), listener("inbound", 15006, "InboundPassthroughCluster")];
}

/**
 * Clusters that lead to the original destination; connections to the application come from an address that is not
 * captured again.
 */
export function clusters() {
  const inbound = {
    upstream_bind_config: {
      source_address: { address: "127.0.0.6", port_value: 0 },
      extra_source_addresses: [{ address: { address: "::6", port_value: 0 } }],
    },
  };
  return [cluster("PassthroughCluster"), { ...cluster("InboundPassthroughCluster"), ...inbound }];
}

function cluster(name: string) {
  return {
    "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    name,
    type: "ORIGINAL_DST",
    lb_policy: "CLUSTER_PROVIDED",
  };
}

function listener(name: "inbound" | "outbound", port: number, cluster: string) {
  return {
    "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
    name,
    traffic_direction: name.toUpperCase(),
    address: address("0.0.0.0", port),
    additional_addresses: [{ address: address("::", port) }],
    listener_filters: [{
      name: "original_dst",
      typed_config: { "@type": `${EXTENSIONS}.listener.original_dst.v3.OriginalDst` },
    }],
    filter_chains: [{ filters: [{ name: "http", typed_config: connectionManager(name, cluster) }] }],
  };
}

function connectionManager(name: string, cluster: string) {
  const routes = [{ match: { prefix: "/" }, route: { cluster, timeout: "0s" } }];
  return {
    "@type": `${EXTENSIONS}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: name,
    route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes }] },
    http_filters: [{ name: "router", typed_config: { "@type": `${EXTENSIONS}.http.router.v3.Router` } }],
  };
}

function address(host: string, port: number) {
  return { socket_address: { address: host, port_value: port } };
}
