/** The configuration of a sidecar in a mesh with services of every kind, as istiod writes it. */
import {
  chain,
  cluster,
  endpoints,
  fault,
  HTTP_INSPECTOR,
  type Message,
  Messages,
  ORIGINAL_DST,
  rbac,
  route,
  routes,
  TLS_INSPECTOR,
  virtualHost,
} from "./messages.ts";

const suffix = "default.svc.cluster.local";

/** `outbound|9080|v1|reviews.default.svc.cluster.local`. */
export function outbound(service: string, port: number, subset = ""): string {
  return `outbound|${port}|${subset}|${service.includes(".") ? service : `${service}.${suffix}`}`;
}

/** The names of a service as domains, with its address. */
function domains(service: string, address: string): string[] {
  return [`${service}.${suffix}`, service, `${service}.default.svc`, `${service}.default`, address];
}

const RAW_HTTP = { transport_protocol: "raw_buffer", application_protocols: ["http/1.1", "h2c"] };
const ALLOW_ANY = virtualHost("allow_any", ["*"], [route("allow_any", { prefix: "/" }, "PassthroughCluster")]);

/** All resources. `folder`: where the access log goes. */
export function meshConfig(folder: string): Message[] {
  const messages = new Messages(folder);
  return [...outboundListeners(messages), inboundListener(messages), ...routeConfigs(), ...clusters()];
}

function outboundListeners(of: Messages): Message[] {
  return [
    of.listener("virtualOutbound", "0.0.0.0", 15001, {
      bind_to_port: true,
      use_original_dst: true,
      filter_chains: [
        chain(
          [of.tcp("virtualOutbound", "BlackHoleCluster")],
          { destination_port: 15001 },
          "virtualOutbound-blackhole",
        ),
        chain([of.tcp("virtualOutbound", "PassthroughCluster")], undefined, "virtualOutbound-catchall-tcp"),
      ],
    }),
    ...httpListeners(of),
    ...tcpListeners(of),
    ...choosingListeners(of),
  ];
}

function passthrough(of: Messages, listener: string): Message {
  return chain([of.tcp(listener, "PassthroughCluster")], undefined, "PassthroughFilterChain");
}

function httpListeners(of: Messages): Message[] {
  const http = (port: number, more: Message = {}) => {
    const name = `0.0.0.0_${port}`;
    return of.listener(name, "0.0.0.0", port, {
      listener_filters: [HTTP_INSPECTOR],
      filter_chains: [chain([of.http(name, String(port))], RAW_HTTP)],
      default_filter_chain: passthrough(of, name),
      ...more,
    });
  };
  return [
    http(9080),
    http(80),
    http(8000),
    // The inspector does not run for this port: server-first protocols.
    http(9090, {
      listener_filters: [{
        ...HTTP_INSPECTOR,
        filter_disabled: {
          or_match: {
            rules: [
              { destination_port_range: { start: 9090, end: 9091 } },
              { destination_port_range: { start: 9095, end: 9096 } },
            ],
          },
        },
      }],
    }),
  ];
}

function tcpListeners(of: Messages): Message[] {
  const tcp = (address: string, port: number, to: string | Message) =>
    of.listener(`${address}_${port}`, address, port, { filter_chains: [chain([of.tcp(`${address}_${port}`, to)])] });
  return [
    // An exact address beside the wildcard of the same port.
    tcp("10.96.1.9", 9080, outbound("plain", 9080)),
    tcp("10.96.1.7", 6379, outbound("cache", 6379)),
    tcp("10.96.1.6", 3306, {
      clusters: [
        { name: outbound("db", 3306, "v1"), weight: 80 },
        { name: outbound("db", 3306, "v2"), weight: 20 },
      ],
    }),
    tcp("10.77.0.35", 7001, outbound("peers", 7001)),
    tcp("10.96.1.20", 3307, "outbound|3307||missing.default.svc.cluster.local"),
    tcp("10.96.1.21", 3308, "BlackHoleCluster"),
  ];
}

/** Listeners with several chains. */
function choosingListeners(of: Messages): Message[] {
  return [
    of.listener("0.0.0.0_27017", "0.0.0.0", 27017, {
      filter_chains: [
        chain([of.tcp("0.0.0.0_27017", outbound("mongo.example.com", 27017))], {
          prefix_ranges: [{ address_prefix: "10.200.0.0", prefix_len: 24 }],
        }, "mongo-24"),
        chain([of.tcp("0.0.0.0_27017", outbound("cache", 6379))], {
          prefix_ranges: [{ address_prefix: "10.200.0.0", prefix_len: 16 }],
        }, "mongo-16"),
      ],
      default_filter_chain: passthrough(of, "0.0.0.0_27017"),
    }),
    of.listener("0.0.0.0_443", "0.0.0.0", 443, {
      listener_filters: [TLS_INSPECTOR],
      filter_chains: [
        sni(of, "0.0.0.0_443", ["api.example.com"], outbound("api.example.com", 443)),
        sni(of, "0.0.0.0_443", ["*.example.com"], outbound("wide.example.com", 443)),
        sni(of, "0.0.0.0_443", ["*.wild.example.com"], outbound("wild.example.com", 443)),
      ],
      default_filter_chain: passthrough(of, "0.0.0.0_443"),
    }),
    // Without a default chain other connections are closed.
    of.listener("10.96.1.8_8443", "10.96.1.8", 8443, {
      listener_filters: [TLS_INSPECTOR],
      filter_chains: [sni(of, "10.96.1.8_8443", ["secure.default.svc.cluster.local"], outbound("secure", 8443))],
    }),
    // One port distinguishes HTTP, TLS and other protocols.
    of.listener("0.0.0.0_8888", "0.0.0.0", 8888, {
      listener_filters: [TLS_INSPECTOR, HTTP_INSPECTOR],
      filter_chains: [
        chain([of.http("0.0.0.0_8888", "9080")], RAW_HTTP, "mixed-http"),
        chain([of.tcp("0.0.0.0_8888", outbound("secure", 8443))], { transport_protocol: "tls" }, "mixed-tls"),
        chain([of.tcp("0.0.0.0_8888", outbound("cache", 6379))], { transport_protocol: "raw_buffer" }, "mixed-tcp"),
      ],
    }),
  ];
}

function sni(of: Messages, listener: string, names: readonly string[], to: string): Message {
  return chain([of.tcp(listener, to)], { server_names: names }, `sni-${names[0]}`);
}

function inboundListener(of: Messages): Message {
  const own = (port: number, filters: readonly Message[], more: Message = {}) =>
    chain(filters, { destination_port: port, ...more }, `0.0.0.0_${port}`);
  const inline = (port: number) => ({
    name: `inbound|${port}||`,
    virtual_hosts: [
      virtualHost(`inbound|http|${port}`, ["*"], [route("default", { prefix: "/" }, `inbound|${port}||`)]),
    ],
  });
  const from = (address: string, bits: number) => ({ direct_remote_ip: { address_prefix: address, prefix_len: bits } });
  return of.listener("virtualInbound", "0.0.0.0", 15006, {
    bind_to_port: true,
    traffic_direction: "INBOUND",
    listener_filters: [ORIGINAL_DST, TLS_INSPECTOR, HTTP_INSPECTOR],
    filter_chains: [
      chain([of.tcp("virtualInbound", "BlackHoleCluster")], { destination_port: 15006 }, "virtualInbound-blackhole"),
      chain([of.tcp("virtualInbound", "InboundPassthroughCluster")], undefined, "virtualInbound"),
      own(8080, [of.http("virtualInbound", inline(8080))], { transport_protocol: "raw_buffer" }),
      own(8081, [
        of.http("virtualInbound", inline(8081), [
          rbac("http", "DENY", {
            "ns[default]-policy[deny]-rule[0]": {
              permissions: [{ url_path: { path: { prefix: "/admin" } } }],
              principals: [{ any: true }],
            },
          }),
          rbac("http", "ALLOW", {
            "ns[default]-policy[allow]-rule[0]": {
              permissions: [{ or_rules: { rules: [{ header: { name: ":method", string_match: { exact: "GET" } } }] } }],
              principals: [{ and_ids: { ids: [from("10.199.0.0", 24)] } }],
            },
            "ns[default]-policy[allow]-rule[1]": {
              permissions: [{
                and_rules: {
                  rules: [{ destination_port: 8081 }, { not_rule: { header: { name: "x-no", present_match: true } } }],
                },
              }],
              principals: [{ header: { name: "x-token", string_match: { exact: "t" } } }],
            },
          }),
        ]),
      ]),
      own(8082, [
        rbac("network", "DENY", {
          "ns[default]-policy[block]-rule[0]": { permissions: [{ any: true }], principals: [from("10.199.0.1", 32)] },
        }),
        of.tcp("virtualInbound", "inbound|8082||"),
      ]),
      own(8083, [of.tcp("virtualInbound", "inbound|8083||")], {
        source_prefix_ranges: [{ address_prefix: "10.1.0.0", prefix_len: 16 }],
      }),
    ],
  });
}

const DEFAULT = { prefix: "/" };
const header = (matcher: Message, prefix = "/"): Message => ({ prefix, headers: [matcher] });

function routeConfigs(): Message[] {
  return [
    routes("9080", [reviews(), ratings(), details(), ...wildcards(), ALLOW_ANY]),
    routes("80", [
      virtualHost("api.example.com:80", ["api.example.com"], [
        route("ext-v2", { prefix: "/v2" }, outbound("details", 9080)),
        route("ext", DEFAULT, outbound("api.example.com", 80)),
      ]),
      virtualHost("nodes.default.svc.cluster.local:80", ["nodes", "*.nodes", `nodes.${suffix}`], [
        route("default", DEFAULT, outbound("nodes", 80)),
      ]),
      virtualHost("failover.default.svc.cluster.local:80", ["failover"], [
        route("default", DEFAULT, outbound("failover", 80)),
      ]),
      virtualHost("half.default.svc.cluster.local:80", ["half"], [route("default", DEFAULT, outbound("half", 80))]),
      virtualHost("down.default.svc.cluster.local:80", ["down"], [route("default", DEFAULT, outbound("down", 80))]),
      virtualHost("panic.default.svc.cluster.local:80", ["panic"], [route("default", DEFAULT, outbound("panic", 80))]),
      virtualHost("empty.default.svc.cluster.local:80", ["empty"], [route("default", DEFAULT, outbound("empty", 80))]),
      virtualHost("degraded.default.svc.cluster.local:80", ["degraded"], [
        route("default", DEFAULT, outbound("degraded", 80)),
      ]),
      virtualHost("tight.default.svc.cluster.local:80", ["tight"], [route("default", DEFAULT, outbound("tight", 80))]),
      virtualHost("routed.default.svc.cluster.local:80", ["routed"], [
        route("default", DEFAULT, outbound("routed", 80)),
      ]),
      ALLOW_ANY,
    ]),
    // REGISTRY_ONLY: Envoy itself answers for other hosts. The port in the Host header counts.
    routes("8000", [
      virtualHost("strict:8000", ["strict", "strict:8000"], [route("default", DEFAULT, outbound("details", 9080))]),
      virtualHost("noslash", ["noslash"], [route("only", { prefix: "/only" }, outbound("details", 9080))]),
      virtualHost("block_all", ["*"], [route("block_all", DEFAULT, { direct_response: { status: 502 } })]),
    ], { ignore_port_in_host_matching: false }),
    routes("9090", [ALLOW_ANY]),
  ];
}

const v1 = outbound("reviews", 9080, "v1");
const v2 = outbound("reviews", 9080, "v2");
const v3 = outbound("reviews", 9080, "v3");
const rating = outbound("ratings", 9080);
const detail = outbound("details", 9080);

function reviews(): Message {
  return virtualHost("reviews.default.svc.cluster.local:9080", domains("reviews", "10.96.1.1"), [
    ...matchingRoutes(),
    ...actingRoutes(),
    route("default", DEFAULT, v1),
  ]);
}

/** Every kind of match. */
function matchingRoutes(): Message[] {
  return [
    route("jason", header({ name: "end-user", string_match: { exact: "jason" } }), v2),
    route("exact", { path: "/exact" }, { route: { cluster: v1, prefix_rewrite: "/rewritten" } }),
    route("separated", { path_separated_prefix: "/sep" }, rating),
    route("regex", { safe_regex: { regex: "/items/[0-9]+" } }, rating),
    route("ignorecase", { prefix: "/MixedCase", case_sensitive: false }, detail),
    route("ignorepath", { path: "/ANY", case_sensitive: false }, detail),
    route(
      "without",
      header({
        name: "x-skip",
        string_match: { exact: "yes" },
        invert_match: true,
        treat_missing_header_as_empty: true,
      }, "/wo"),
      rating,
    ),
    route("inverted", header({ name: "x-skip", string_match: { exact: "yes" }, invert_match: true }, "/inv"), rating),
    route("range", header({ name: "x-num", range_match: { start: 10, end: 20 } }, "/range"), rating),
    route("present", header({ name: "x-present", present_match: true }, "/present"), rating),
    route("absent", header({ name: "x-present", present_match: false }, "/absent"), rating),
    route("notpresent", header({ name: "x-present", present_match: true, invert_match: true }, "/notpresent"), rating),
    route("suffix", header({ name: "x-v", string_match: { suffix: "-end" } }), v3),
    route("contains", header({ name: "x-v", string_match: { contains: "MID", ignore_case: true } }), v3),
    route("startswith", header({ name: "x-v", string_match: { prefix: "pre-" } }), v3),
    route("headerregex", header({ name: "x-v", string_match: { safe_regex: { regex: "v[23]" } } }), v3),
    route("post", { prefix: "/form", headers: [{ name: ":method", string_match: { exact: "POST" } }] }, v3),
    route("beta", { prefix: "/", query_parameters: [{ name: "beta", string_match: { exact: "1" } }] }, v3),
    route("anyquery", { prefix: "/q", query_parameters: [{ name: "any", present_match: true }] }, v3),
    route("regexquery", {
      prefix: "/q",
      query_parameters: [{ name: "n", string_match: { safe_regex: { regex: "[0-9]+" } } }],
    }, v2),
  ];
}

/** Shares of requests, and every kind of action. */
function actingRoutes(): Message[] {
  const share = (numerator: number) => ({ default_value: { numerator, denominator: "HUNDRED" } });
  return [
    route("grpc", { prefix: "/grpc", grpc: {} }, v3),
    route("never", { prefix: "/share", runtime_fraction: share(0) }, v3),
    route("sometimes", { prefix: "/share", runtime_fraction: share(50) }, v3),
    route("weights", { prefix: "/weights" }, {
      route: {
        weighted_clusters: { clusters: [{ name: v1, weight: 75 }, { name: v2, weight: 25 }, { name: v3, weight: 0 }] },
      },
    }),
    route("moved", { prefix: "/old" }, { redirect: { path_redirect: "/new", response_code: "FOUND" } }),
    route("teapot", { prefix: "/teapot" }, { direct_response: { status: 418, body: { inline_string: "t" } } }),
    route("abort", { prefix: "/abort" }, v1, {
      typed_per_filter_config: fault({ abort: { http_status: 555, percentage: { numerator: 100 } } }),
    }),
    route("abortsome", { prefix: "/maybe" }, v1, {
      typed_per_filter_config: fault({
        abort: { http_status: 556, percentage: { numerator: 100 } },
        headers: [{ name: "x-fault", string_match: { exact: "on" } }],
      }),
    }),
    route("nosubset", { prefix: "/nosub" }, outbound("reviews", 9080, "v9")),
    route("named", { prefix: "/named" }, { route: { cluster_header: "x-cluster" } }),
    route("empty", { prefix: "/empty" }, outbound("empty", 80)),
  ];
}

function ratings(): Message {
  return virtualHost("ratings.default.svc.cluster.local:9080", domains("ratings", "10.96.1.2"), [
    route("canary", { prefix: "/canary" }, {
      route: {
        weighted_clusters: {
          clusters: [{ name: outbound("ratings", 9080), weight: 1 }, { name: outbound("details", 9080), weight: 1 }],
        },
      },
    }),
    route("port", DEFAULT, outbound("ratings", 9080)),
  ]);
}

/** A virtual host without a route for other paths. */
function details(): Message {
  return virtualHost("details.default.svc.cluster.local:9080", domains("details", "10.96.1.3"), [
    route("only", { path_separated_prefix: "/only" }, outbound("details", 9080)),
  ]);
}

function wildcards(): Message[] {
  const to = (name: string, domain: string, service: string) =>
    virtualHost(name, [domain], [route(name, DEFAULT, outbound(service, 9080))]);
  return [
    to("wide", "*.wild.local", "ratings"),
    to("deep", "*.a.wild.local", "details"),
    to("dashed", "*-b.wild.local", "plain"),
    to("start", "shop.*", "ratings"),
    to("longstart", "shop.eu.*", "details"),
  ];
}

/** The kernel does not capture connections from this address. */
const PROXY_SOURCE = { upstream_bind_config: { source_address: { address: "127.0.0.6", port_value: 0 } } };

function clusters(): Message[] {
  const eds = (name: string, hosts: Parameters<typeof endpoints>[1][], more: Message = {}) => [
    cluster(name, "EDS", more),
    endpoints(name, ...hosts),
  ];
  const bad = (address: string) => [address, "UNHEALTHY"] as const;
  return [
    cluster("PassthroughCluster", "ORIGINAL_DST"),
    cluster("InboundPassthroughCluster", "ORIGINAL_DST", PROXY_SOURCE),
    cluster("BlackHoleCluster", "STATIC"),
    ...[8080, 8081, 8082, 8083].map((port) => cluster(`inbound|${port}||`, "ORIGINAL_DST", PROXY_SOURCE)),
    ...eds(outbound("reviews", 9080, "v1"), [["10.77.0.21:9080", "10.77.0.20:9080"]]),
    ...eds(outbound("reviews", 9080, "v2"), [["10.77.0.22:9080"]]),
    ...eds(outbound("reviews", 9080, "v3"), [["10.77.0.23:9080"]]),
    ...eds(outbound("ratings", 9080), [["10.77.0.24:9080"]]),
    ...eds(outbound("details", 9080), [["10.77.0.25:9080", "10.77.0.26:9080", bad("10.77.0.27:9080")]]),
    ...eds(outbound("plain", 9080), [["10.77.0.28:9080"]]),
    ...eds(outbound("api.example.com", 80), [["10.77.0.40:80"]]),
    ...eds(outbound("api.example.com", 443), [["10.77.0.40:443"]]),
    ...eds(outbound("wide.example.com", 443), [["10.77.0.42:443"]]),
    ...eds(outbound("wild.example.com", 443), [["10.77.0.43:443"]]),
    ...eds(outbound("secure", 8443), [["10.77.0.44:8443"]]),
    ...eds(outbound("cache", 6379), [["10.77.0.30:6379"]]),
    ...eds(outbound("mongo.example.com", 27017), [["10.77.0.41:27017"]]),
    ...eds(outbound("db", 3306, "v1"), [["10.77.0.31:3306"]]),
    ...eds(outbound("db", 3306, "v2"), [["10.77.0.32:3306"]]),
    cluster(outbound("nodes", 80), "ORIGINAL_DST"),
    cluster(outbound("peers", 7001), "ORIGINAL_DST"),
    cluster(outbound("routed", 80), "ORIGINAL_DST", { original_dst_lb_config: { use_http_header: true } }),
    ...eds(outbound("failover", 80), [[bad("10.77.0.50:80"), bad("10.77.0.51:80")], ["10.77.0.52:80"]]),
    ...eds(outbound("half", 80), [["10.77.0.53:80", bad("10.77.0.54:80"), bad("10.77.0.55:80")], ["10.77.0.56:80"]]),
    ...eds(outbound("down", 80), [[bad("10.77.0.57:80")]]),
    ...eds(outbound("panic", 80), [["10.77.0.58:80", bad("10.77.0.59:80"), bad("10.77.0.60:80")]], {
      common_lb_config: { healthy_panic_threshold: { value: 50 } },
    }),
    ...eds(outbound("degraded", 80), [[["10.77.0.61:80", "DEGRADED"], bad("10.77.0.62:80")]]),
    ...eds(outbound("tight", 80), [["10.77.0.63:80"]], {
      circuit_breakers: { thresholds: [{ max_connections: 0, max_pending_requests: 0, max_requests: 0 }] },
    }),
    ...eds(outbound("empty", 80), []),
  ];
}
