/** Short forms of Envoy's messages. */

const TYPE = "type.googleapis.com/envoy";
const FILTERS = `${TYPE}.extensions.filters`;
const ADS = { ads: {}, resource_api_version: "V3", initial_fetch_timeout: "0s" };

export type Message = Readonly<Record<string, unknown>>;

/** The file that Envoy writes its access log to. */
export const ACCESS_LOG = "access.log";

/** One line of JSON for a request or a connection; `listener` and `level` are fixed texts. */
function accessLog(folder: string, listener: string, level: string): Message {
  return {
    name: "file",
    typed_config: {
      "@type": `${TYPE}.extensions.access_loggers.file.v3.FileAccessLog`,
      path: `${folder}/${ACCESS_LOG}`,
      log_format: {
        json_format: {
          listener,
          level,
          from: "%DOWNSTREAM_DIRECT_REMOTE_ADDRESS%",
          route: "%ROUTE_NAME%",
          cluster: "%UPSTREAM_CLUSTER%",
          host: "%UPSTREAM_HOST%",
          chain: "%FILTER_CHAIN_NAME%",
          flags: "%RESPONSE_FLAGS%",
          code: "%RESPONSE_CODE%",
          details: "%RESPONSE_CODE_DETAILS%",
          termination: "%CONNECTION_TERMINATION_DETAILS%",
        },
      },
    },
  };
}

/** Builds the messages of one proxy. */
export class Messages {
  constructor(private readonly folder: string) {}

  listener(name: string, address: string, port: number, more: Message): Message {
    return {
      "@type": `${TYPE}.config.listener.v3.Listener`,
      name,
      address: { socket_address: { address, port_value: port } },
      bind_to_port: false,
      listener_filters_timeout: "0s",
      continue_on_listener_filters_timeout: true,
      access_log: [accessLog(this.folder, name, "listener")],
      ...more,
    };
  }

  /** A connection manager with routes by name, or inline. */
  http(listener: string, routes: string | Message, filters: readonly Message[] = []): Message {
    return {
      name: "envoy.filters.network.http_connection_manager",
      typed_config: {
        "@type": `${FILTERS}.network.http_connection_manager.v3.HttpConnectionManager`,
        stat_prefix: listener,
        ...typeof routes === "string"
          ? { rds: { route_config_name: routes, config_source: ADS } }
          : { route_config: routes },
        normalize_path: true,
        http_filters: [
          ...filters,
          { name: "envoy.filters.http.fault", typed_config: { "@type": `${FILTERS}.http.fault.v3.HTTPFault` } },
          { name: "envoy.filters.http.router", typed_config: { "@type": `${FILTERS}.http.router.v3.Router` } },
        ],
        access_log: [accessLog(this.folder, listener, "request")],
      },
    };
  }

  tcp(listener: string, cluster: string | Message): Message {
    return {
      name: "envoy.filters.network.tcp_proxy",
      typed_config: {
        "@type": `${FILTERS}.network.tcp_proxy.v3.TcpProxy`,
        stat_prefix: listener,
        ...typeof cluster === "string" ? { cluster } : { weighted_clusters: cluster },
        access_log: [accessLog(this.folder, listener, "request")],
      },
    };
  }
}

/** A filter chain. */
export function chain(filters: readonly Message[], match?: Message, name?: string): Message {
  return {
    filters,
    ...match === undefined ? {} : { filter_chain_match: match },
    ...name === undefined ? {} : { name },
  };
}

export const HTTP_INSPECTOR = inspector("http_inspector", "HttpInspector");
export const TLS_INSPECTOR = inspector("tls_inspector", "TlsInspector");
export const ORIGINAL_DST = inspector("original_dst", "OriginalDst");

function inspector(name: string, type: string): Message {
  return {
    name: `envoy.filters.listener.${name}`,
    typed_config: { "@type": `${FILTERS}.listener.${name}.v3.${type}` },
  };
}

/** Rules of authorization, for HTTP or for connections. */
export function rbac(of: "http" | "network", action: "ALLOW" | "DENY", policies: Message): Message {
  return {
    name: `envoy.filters.${of}.rbac`,
    typed_config: {
      "@type": `${FILTERS}.${of}.rbac.v3.RBAC`,
      rules: { action, policies },
      ...of === "network" ? { stat_prefix: "rbac" } : {},
    },
  };
}

/** What the fault filter does on a route. */
export function fault(config: Message): Message {
  return { "envoy.filters.http.fault": { "@type": `${FILTERS}.http.fault.v3.HTTPFault`, ...config } };
}

export function routes(name: string, virtualHosts: readonly Message[], more: Message = {}): Message {
  return {
    "@type": `${TYPE}.config.route.v3.RouteConfiguration`,
    name,
    ignore_port_in_host_matching: true,
    validate_clusters: false,
    virtual_hosts: virtualHosts,
    ...more,
  };
}

export function virtualHost(name: string, domains: readonly string[], routes: readonly Message[]): Message {
  return { name, domains, routes };
}

/** A route: its conditions, its cluster or action, and other fields. */
export function route(name: string, match: Message, to: string | Message, more: Message = {}): Message {
  return { name, match, ...typeof to === "string" ? { route: { cluster: to } } : to, ...more };
}

export function cluster(name: string, type: "EDS" | "STATIC" | "ORIGINAL_DST", more: Message = {}): Message {
  const eds = type === "EDS" ? { eds_cluster_config: { eds_config: ADS } } : {};
  const policy = type === "ORIGINAL_DST" ? { lb_policy: "CLUSTER_PROVIDED" } : {};
  return {
    "@type": `${TYPE}.config.cluster.v3.Cluster`,
    name,
    type,
    connect_timeout: "2s",
    common_lb_config: { healthy_panic_threshold: {} },
    ...eds,
    ...policy,
    ...more,
  };
}

/** An endpoint: `10.77.0.21:9080`, with its health. */
export type EndpointSpec = string | readonly [address: string, health: string];

/** Endpoints by priority. */
export function endpoints(name: string, ...priorities: readonly (readonly EndpointSpec[])[]): Message {
  return {
    "@type": `${TYPE}.config.endpoint.v3.ClusterLoadAssignment`,
    cluster_name: name,
    endpoints: priorities.map((hosts, priority) => ({
      priority,
      locality: { region: "r1", zone: `z${priority}` },
      lb_endpoints: hosts.map((host) => {
        const [text, health] = typeof host === "string" ? [host, "HEALTHY"] : host;
        const [address, port] = text.split(":");
        return {
          health_status: health,
          endpoint: { address: { socket_address: { address, port_value: Number(port) } } },
        };
      }),
    })),
  };
}
