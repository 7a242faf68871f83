/** Generates a snapshot of a pod in a large mesh, in the formats of istiod and Envoy. */

const TYPE = "type.googleapis.com/envoy";

/** The size of the mesh. */
export interface Size {
  readonly clusters: number;
  readonly endpoints: number;
}

/**
 * Returns the files of a snapshot, by name. Each service has one port; every tenth route is merged from several virtual
 * services.
 */
export function snapshotFiles({ clusters, endpoints }: Size): ReadonlyMap<string, string> {
  const services = Array.from({ length: clusters }, (_, index) => service(index, Math.ceil(endpoints / clusters)));
  let left = endpoints;
  const sized = services.map((each) => {
    const hosts = each.hosts.slice(0, Math.max(0, left));
    left -= hosts.length;
    return { ...each, hosts };
  });
  const configs = [
    { "@type": `${TYPE}.admin.v3.ClustersConfigDump`, dynamic_active_clusters: sized.map(clusterEntry) },
    { "@type": `${TYPE}.admin.v3.EndpointsConfigDump`, dynamic_endpoint_configs: sized.map(endpointEntry) },
    { "@type": `${TYPE}.admin.v3.ListenersConfigDump`, dynamic_listeners: [virtualOutbound(), httpListener()] },
    { "@type": `${TYPE}.admin.v3.RoutesConfigDump`, dynamic_route_configs: [routeEntry(sized)] },
  ];
  const statuses = sized.map(({ cluster, hosts }) => ({
    name: cluster,
    added_via_api: true,
    host_statuses: hosts.map((address) => ({
      address: socket(address, 8080),
      stats: ["cx_connect_fail", "cx_total", "rq_error", "rq_success", "rq_timeout", "rq_total"].map((name) => ({
        name,
      })),
      health_status: { eds_health_status: "HEALTHY" },
      weight: 1,
      locality: { region: "r1", zone: "z1" },
    })),
  }));
  const pod = { metadata: { name: "web", namespace: "bench" }, spec: { containers: [{ name: "app" }] } };
  return new Map([
    ["config_dump.json", JSON.stringify({ configs }, undefined, 1)],
    ["clusters.json", JSON.stringify({ cluster_statuses: statuses })],
    ["pod.json", JSON.stringify(pod)],
  ]);
}

interface Service {
  readonly host: string;
  readonly cluster: string;
  readonly address: string;
  readonly hosts: readonly string[];
}

function service(index: number, hosts: number): Service {
  const host = `service-${index}.namespace-${index % 50}.svc.cluster.local`;
  return {
    host,
    cluster: `outbound|8080||${host}`,
    address: `10.96.${index >> 8}.${index & 255}`,
    hosts: Array.from({ length: hosts }, (_, at) => `10.${index >> 8}.${index & 255}.${at + 1}`),
  };
}

function socket(address: string, port: number): object {
  return { socket_address: { address, port_value: port } };
}

const MUTUAL = {
  name: "tlsMode-istio",
  match: { tlsMode: "istio" },
  transport_socket: {
    name: "envoy.transport_sockets.tls",
    typed_config: {
      "@type": `${TYPE}.extensions.transport_sockets.tls.v3.UpstreamTlsContext`,
      common_tls_context: {
        alpn_protocols: ["istio-peer-exchange", "istio"],
        tls_certificate_sds_secret_configs: [{
          name: "default",
          sds_config: { api_config_source: { api_type: "GRPC" } },
        }],
        combined_validation_context: {
          default_validation_context: {
            match_subject_alt_names: [{ exact: "spiffe://cluster.local/ns/bench/sa/web" }],
          },
          validation_context_sds_secret_config: {
            name: "ROOTCA",
            sds_config: { api_config_source: { api_type: "GRPC" } },
          },
        },
      },
      sni: "outbound_.8080_._.service.bench.svc.cluster.local",
    },
  },
};

const PLAIN = { name: "tlsMode-disabled", match: {}, transport_socket: { name: "envoy.transport_sockets.raw_buffer" } };

function clusterEntry({ cluster, host }: Service): object {
  return {
    version_info: "2026-11-22T18:00:00Z/1",
    cluster: {
      "@type": `${TYPE}.config.cluster.v3.Cluster`,
      name: cluster,
      type: "EDS",
      eds_cluster_config: { eds_config: { ads: {}, resource_api_version: "V3" }, service_name: cluster },
      connect_timeout: "10s",
      lb_policy: "LEAST_REQUEST",
      circuit_breakers: { thresholds: [{ max_connections: 4294967295, max_pending_requests: 4294967295 }] },
      common_lb_config: { healthy_panic_threshold: {} },
      metadata: { filter_metadata: { istio: { services: [{ host, name: host.split(".")[0], namespace: "bench" }] } } },
      transport_socket_matches: [MUTUAL, PLAIN],
    },
    last_updated: "2026-11-22T18:00:00Z",
  };
}

function endpointEntry({ cluster, hosts }: Service): object {
  return {
    endpoint_config: {
      "@type": `${TYPE}.config.endpoint.v3.ClusterLoadAssignment`,
      cluster_name: cluster,
      endpoints: [{
        locality: { region: "r1", zone: "z1" },
        lb_endpoints: hosts.map((address) => ({
          endpoint: { address: socket(address, 8080) },
          health_status: "HEALTHY",
          metadata: { filter_metadata: { "envoy.transport_socket_match": { tlsMode: "istio" } } },
          load_balancing_weight: 1,
        })),
      }],
    },
  };
}

function virtualOutbound(): object {
  return entry({
    name: "virtualOutbound",
    address: socket("0.0.0.0", 15001),
    use_original_dst: true,
    filter_chains: [{ filters: [tcp("PassthroughCluster")] }],
  });
}

function httpListener(): object {
  const manager = {
    "@type": `${TYPE}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    rds: { route_config_name: "8080" },
    normalize_path: true,
    http_filters: [{ name: "envoy.filters.http.router" }],
  };
  return entry({
    name: "0.0.0.0_8080",
    address: socket("0.0.0.0", 8080),
    bind_to_port: false,
    listener_filters: [{ name: "envoy.filters.listener.http_inspector" }],
    filter_chains: [{
      filter_chain_match: { transport_protocol: "raw_buffer", application_protocols: ["http/1.1", "h2c"] },
      filters: [{ name: "envoy.filters.network.http_connection_manager", typed_config: manager }],
    }],
    default_filter_chain: { filters: [tcp("PassthroughCluster")], name: "PassthroughFilterChain" },
  });
}

function tcp(cluster: string): object {
  const config = { "@type": `${TYPE}.extensions.filters.network.tcp_proxy.v3.TcpProxy`, cluster };
  return { name: "envoy.filters.network.tcp_proxy", typed_config: config };
}

function entry(listener: Readonly<Record<string, unknown>>): object {
  return { name: listener["name"], active_state: { listener } };
}

function routeEntry(services: readonly Service[]): object {
  return {
    route_config: {
      "@type": `${TYPE}.config.route.v3.RouteConfiguration`,
      name: "8080",
      ignore_port_in_host_matching: true,
      virtual_hosts: services.map(({ host, cluster, address }) => {
        const [name = "", namespace = ""] = host.split(".");
        return {
          name: `${host}:8080`,
          domains: [host, `${name}.${namespace}`, `${name}.${namespace}.svc`, address],
          routes: [
            { name: "v2", match: { safe_regex: { regex: "/v2/[0-9]+" } }, route: { cluster, timeout: "0s" } },
            {
              name: "default",
              match: { prefix: "/" },
              route: { cluster, timeout: "0s", retry_policy: { num_retries: 2 } },
            },
          ],
        };
      }),
    },
  };
}
