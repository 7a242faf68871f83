import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { testCertificate } from "../../test/support/tls/certificates.ts";
import { UsageError } from "../base/errors.ts";
import { parseYaml } from "../yaml/mod.ts";
import type { Listed, ListingFilter } from "./listing/listing.ts";
import { explainListing } from "./run_listing.ts";

const LISTED: readonly Listed[] = ["listeners", "routes", "clusters", "endpoints", "secrets", "bootstrap"];

const { certificate, authority, key } = testCertificate();
const ADMIN = "type.googleapis.com/envoy.admin.v3";
const TLS = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3";
const NETWORK = "type.googleapis.com/envoy.extensions.filters.network";
const WEB = "outbound|80||web.shop.svc.cluster.local";
const V1 = "outbound|80|v1|web.shop.svc.cluster.local";

function origin(kind: string, name: string) {
  const config = `/apis/networking.istio.io/v1/namespaces/shop/${kind}/${name}`;
  return { filter_metadata: { istio: { config } } };
}

function tcp(cluster: string) {
  return { name: "tcp", typed_config: { "@type": `${NETWORK}.tcp_proxy.v3.TcpProxy`, cluster } };
}

function http(config: object) {
  const type = `${NETWORK}.http_connection_manager.v3.HttpConnectionManager`;
  return { name: "http", typed_config: { "@type": type, ...config } };
}

function listener(name: string, address: string, port: number, more: object) {
  return { name, active_state: { listener: { name, address: socket(address, port), ...more } } };
}

function socket(address: string, port_value: number) {
  return { socket_address: { address, port_value } };
}

function route(prefix: string, cluster: string, more: object = {}) {
  return { match: { prefix }, route: { cluster }, ...more };
}

function host(name: string, domains: readonly string[], routes: readonly object[]) {
  return { name, domains, routes };
}

function secret(name: string, more: object) {
  return { name, secret: { "@type": `${TLS}.Secret`, name, ...more } };
}

const bytes = (text: string) => ({ inline_bytes: btoa(text) });

const DUMP = {
  configs: [
    {
      "@type": `${ADMIN}.BootstrapConfigDump`,
      bootstrap: {
        node: {
          metadata: { ISTIO_VERSION: "1.31.0", ISTIO_PROXY_SHA: "istio-proxy:abc", ACCESS_TOKEN: "hunter2" },
          user_agent_build_version: {
            version: { major_number: 1, minor_number: 39 },
            metadata: { "build.type": "RELEASE", "revision.status": "Clean", "build.label": "dev" },
          },
        },
      },
    },
    {
      "@type": `${ADMIN}.ClustersConfigDump`,
      static_clusters: [{ cluster: { name: "xds-grpc" } }],
      dynamic_active_clusters: [
        { cluster: { name: WEB, type: "EDS" } },
        { cluster: { name: V1, type: "EDS", metadata: origin("destination-rule", "web") } },
        { cluster: { name: "inbound|8080||", type: "ORIGINAL_DST" } },
      ],
    },
    {
      "@type": `${ADMIN}.EndpointsConfigDump`,
      dynamic_endpoint_configs: [
        {
          endpoint_config: {
            cluster_name: WEB,
            endpoints: [{
              lb_endpoints: [
                { endpoint: { address: socket("10.1.0.2", 8080) }, health_status: "HEALTHY" },
                { endpoint: { address: socket("fd00::2", 8081) } },
              ],
            }],
          },
        },
      ],
    },
    {
      "@type": `${ADMIN}.ListenersConfigDump`,
      dynamic_listeners: [
        listener("virtualOutbound", "0.0.0.0", 15001, {
          filter_chains: [
            { filter_chain_match: { destination_port: 15001 }, filters: [tcp("BlackHoleCluster")] },
            { filters: [tcp("PassthroughCluster")] },
          ],
        }),
        listener("0.0.0.0_80", "0.0.0.0", 80, {
          filter_chains: [{
            filter_chain_match: {
              transport_protocol: "raw_buffer",
              application_protocols: ["http/1.0", "http/1.1", "h2c"],
            },
            filters: [http({ rds: { route_config_name: "80" } })],
          }],
          default_filter_chain: { filters: [tcp("outbound|80||db.shop.svc.cluster.local")] },
        }),
        listener("inbound", "10.1.0.9", 80, {
          filter_chains: [
            {
              filter_chain_match: {
                server_names: ["a", "b"],
                prefix_ranges: [{ address_prefix: "10.1.0.0", prefix_len: 16 }],
              },
              filters: [http({ route_config: { virtual_hosts: [host("in", ["*"], [route("/", "inbound|8080||")])] } })],
            },
            {
              filter_chain_match: { prefix_ranges: [{ address_prefix: "::" }], destination_port: 8443 },
              filters: [http({
                route_config: {
                  virtual_hosts: [
                    host("a", ["a", "b"], [route("/x", WEB), { match: { path: "/y" } }]),
                    host("b", ["*"], [{ match: { safe_regex: { regex: "/z.*" } } }, {
                      match: { path_separated_prefix: "/p" },
                    }]),
                  ],
                },
              })],
            },
          ],
        }),
      ],
    },
    {
      "@type": `${ADMIN}.RoutesConfigDump`,
      static_route_configs: [{ route_config: { virtual_hosts: [host("stats", ["*"], [route("/stats", "agent")])] } }],
      dynamic_route_configs: [
        { route_config: { name: "8080", virtual_hosts: [host("none", ["none"], [])] } },
        {
          route_config: {
            name: "80",
            virtual_hosts: [
              host("web", ["web.shop.svc.cluster.local", "web", "web.shop.svc", "web.shop", "web:80", "10.9.9.9"], [
                route("/api", WEB, { metadata: origin("virtual-service", "web") }),
              ]),
              host("allow_any", ["*"], [route("/", "PassthroughCluster")]),
            ],
          },
        },
      ],
    },
    {
      "@type": `${ADMIN}.SecretsConfigDump`,
      dynamic_active_secrets: [
        secret("default", { tls_certificate: { certificate_chain: bytes(certificate), private_key: bytes(key) } }),
        secret("ROOTCA", { validation_context: { trusted_ca: bytes(authority) } }),
        secret("session", { generic_secret: { secret: { inline_string: "hunter2" } } }),
      ],
      dynamic_warming_secrets: [{ name: "kubernetes://late", version_info: "uninitialized" }],
    },
  ],
};

const STATE = {
  cluster_statuses: [
    {
      name: WEB,
      host_statuses: [
        {
          address: socket("10.1.0.3", 8080),
          health_status: { eds_health_status: "HEALTHY", failed_outlier_check: true },
        },
        { address: socket("10.1.0.2", 8080), health_status: { eds_health_status: "HEALTHY" } },
      ],
    },
    { name: "agent", host_statuses: [{ address: { pipe: { path: "/run/agent" } }, health_status: {} }] },
  ],
};

interface Changes extends Partial<ListingFilter> {
  readonly output?: "table" | "json" | "yaml";
  readonly hasState?: boolean;
}

async function listed(of: Listed, { output = "table", hasState = false, ...filter }: Changes = {}) {
  const state = hasState ? { "pod/clusters.json": JSON.stringify(STATE) } : {};
  const world = fakeWorld({ now: new Date(), files: { "pod/config_dump.json": JSON.stringify(DUMP), ...state } });
  const source = { kind: "file", paths: ["pod"], pod: undefined } as const;
  const code = await explainListing(world, {
    source,
    output,
    of,
    filter: { name: undefined, port: undefined, fqdn: undefined, ...filter },
  });
  assert.equal(code, 0);
  return world.said;
}

/** Columns of the lines after the headings. */
async function rows(of: Listed, changes: Changes = {}): Promise<string[][]> {
  const { stdout } = await listed(of, changes);
  return stdout.trimEnd().split("\n").slice(1).map((line) => line.split(/ {2,}/));
}

Deno.test("listeners are listed by port and address, a row for each filter chain", async () => {
  assert.deepEqual(await rows("listeners"), [
    ["0.0.0.0", "80", "Trans: raw_buffer; App: HTTP", "Route: 80"],
    ["0.0.0.0", "80", "ALL", "Cluster: outbound|80||db.shop.svc.cluster.local"],
    ["10.1.0.9", "80", "Addr: ::/0:8443", `Inline Route: a/b /x*, /y; regex /z.*, PathPrefix:/p`],
    ["10.1.0.9", "80", "SNI: a,b; Addr: 10.1.0.0/16", "Cluster: inbound|8080||"],
    ["0.0.0.0", "15001", "ALL", "PassthroughCluster"],
    ["0.0.0.0", "15001", "Addr: *:15001", "Non-HTTP/Non-TCP"],
  ]);
  assert.equal((await rows("listeners", { port: 15001 })).length, 2);
  assert.deepEqual(await rows("listeners", { name: "inbound", port: 15001 }), [[""]].slice(1));
});

Deno.test("routes are listed with short domains and the VirtualService, without istiod's route for the rest", async () => {
  assert.deepEqual(await rows("routes"), [
    ["80", "web", "web, web.shop + 1 more...", "/api*", "web.shop"],
    ["8080", "none", "none", "/*", "404"],
    ["", "stats", "*", "/stats*"],
  ]);
  assert.equal((await rows("routes", { name: "80" })).length, 1);
});

Deno.test("clusters are listed by host, subset and port", async () => {
  assert.deepEqual(await rows("clusters"), [
    ["", "8080", "-", "inbound", "ORIGINAL_DST"],
    ["web.shop.svc.cluster.local", "80", "-", "outbound", "EDS"],
    ["web.shop.svc.cluster.local", "80", "v1", "outbound", "EDS", "web.shop"],
    ["xds-grpc", "-", "-", "-", "STATIC"],
  ]);
  assert.equal((await rows("clusters", { fqdn: "web.shop" })).length, 2);
  assert.equal((await rows("clusters", { name: V1, port: 80 })).length, 1);
});

Deno.test("endpoints come from Envoy's state, else from istiod's assignment", async () => {
  assert.deepEqual(await rows("endpoints", { hasState: true }), [
    ["10.1.0.2:8080", "HEALTHY", "OK", WEB],
    ["10.1.0.3:8080", "HEALTHY", "FAILED", WEB],
    ["unix:///run/agent", "UNKNOWN", "OK", "agent"],
  ]);
  assert.deepEqual(await rows("endpoints"), [
    ["10.1.0.2:8080", "HEALTHY", "-", WEB],
    ["[fd00::2]:8081", "UNKNOWN", "-", WEB],
  ]);
  assert.equal((await rows("endpoints", { port: 8081 })).length, 1);
  const { stdout } = await listed("endpoints", { hasState: true, fqdn: "web", output: "json" });
  assert.deepEqual(JSON.parse(stdout), STATE.cluster_statuses.slice(0, 1));
});

Deno.test("secrets are listed with their certificates, and their keys are never shown", async () => {
  const [warming, own, root, session] = await rows("secrets");
  assert.deepEqual(warming, ["kubernetes://late", "-", "UNINITIALIZED", "false", "-", "-", "-"]);
  assert.deepEqual(own?.slice(0, 4), ["default", "Cert Chain", "ACTIVE", "true"]);
  assert.match(own?.[4] ?? "", /^[0-9a-f]{32}$/);
  assert.deepEqual(root?.slice(0, 4), ["ROOTCA", "CA", "ACTIVE", "true"]);
  assert.deepEqual(session?.slice(0, 4), ["session", "-", "ACTIVE", "false"]);
  for (const output of ["table", "json", "yaml"] as const) {
    const { stdout } = await listed("secrets", { output });
    for (const text of ["hunter2", "PRIVATE KEY", btoa(key).slice(0, 40)]) assert.ok(!stdout.includes(text), text);
  }
  const { stdout } = await listed("secrets", { name: "ROOTCA", output: "yaml" });
  assert.match(stdout, /name: ROOTCA/);
  assert.ok(!stdout.includes("default"));
});

Deno.test("the bootstrap is listed by its versions; as YAML it has no tokens", async () => {
  const { stdout } = await listed("bootstrap");
  assert.deepEqual(stdout.split("\n").map((line) => line.split(/ {2,}/)[1]), [
    "1.31.0",
    "abc",
    "1.39.0-dev/Clean/RELEASE",
    undefined,
  ]);
  const { stdout: yaml } = await listed("bootstrap", { output: "yaml" });
  assert.ok(!yaml.includes("hunter2"));
  assert.match(JSON.stringify(parseYaml(yaml, "out")), /"ISTIO_VERSION":"1.31.0"/);
});

Deno.test("a listing without a match has its headings and a note", async () => {
  for (const of of LISTED) {
    if (of === "bootstrap") continue;
    const { stdout, stderr } = await listed(of, { name: "none" });
    assert.deepEqual([stdout.split("\n").length, stderr], [2, `note: No ${of} match\n`]);
  }
});

Deno.test("several pods are an error, as is a dump that cannot be read", async () => {
  const files = { "a/config_dump.json": JSON.stringify(DUMP), "b/config_dump.json": "{}" };
  const question = {
    output: "table",
    of: "routes",
    filter: { name: undefined, port: undefined, fqdn: undefined },
  } as const;
  const list = (...paths: string[]) =>
    explainListing(fakeWorld({ files }), { ...question, source: { kind: "file", paths, pod: undefined } });
  await assert.rejects(list("a", "b"), UsageError);
  await assert.rejects(list("b"), {
    message: 'The configuration of "b" cannot be read: config_dump.json does not contain configs',
  });
});
