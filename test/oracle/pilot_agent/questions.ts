/** Questions for pilot-agent and this project: many combinations of valid command lines and environments. */
import type { AgentCase } from "../../support/cases/agent.ts";
import type { CaptureCase } from "../../support/cases/capture.ts";
import { fc } from "../../support/properties.ts";

/** The number of questions, and the seed. */
const SAMPLE = { numRuns: 300, seed: 20261122 };

/** Returns the questions about traffic capture. */
export function captureQuestions(): CaptureCase[] {
  return fc.sample(capture, SAMPLE);
}

/** Returns the questions about the bootstrap. */
export function bootstrapQuestions(): AgentCase[] {
  return fc.sample(bootstrap, SAMPLE);
}

const one = (...texts: readonly string[]) => fc.constantFrom(...texts);

/** Chooses some of these flags with values, each as two arguments, as one argument, or as a variable. */
function given(values: Readonly<Record<string, readonly string[]>>, variables: Readonly<Record<string, string>>) {
  const each = Object.entries(values).map(([flag, texts]) => {
    const form = variables[flag] === undefined ? one("two", "one") : one("two", "one", "variable");
    return fc.option(fc.tuple(fc.constant(flag), one(...texts), form), { nil: undefined });
  });
  return fc.tuple(...each).map((all) => {
    const flags: string[] = [];
    const env: Record<string, string> = {};
    for (const [flag, text, form] of all.filter((each) => each !== undefined)) {
      if (form === "variable") env[variables[flag] ?? ""] = text;
      else flags.push(...form === "one" ? [`${flag}=${text}`] : [flag, text]);
    }
    return { flags, env };
  });
}

/** Chooses some of these names, each with one of its values. */
function some(values: Readonly<Record<string, readonly string[]>>): fc.Arbitrary<Record<string, string>> {
  const model = Object.fromEntries(Object.entries(values).map(([name, texts]) => [name, one(...texts)]));
  return fc.record(model, { requiredKeys: [] }).map((found) =>
    Object.fromEntries(Object.entries(found).flatMap(([name, text]) => text === undefined ? [] : [[name, text]]))
  );
}

/* Traffic capture */

const PORTS = ["", "80", "80,443", "22,", "8080,,9090", "65535", "15090,15021,15020"];
const BLOCKS = [
  ...["", "10.0.0.0/8", "10.0.0.0/8,192.168.0.0/16", "2001:db8::/32", "10.1.0.0/16,2001:db8::/32", "1.2.3.4/32"],
  ...["fd00::/8,fe80::/10", "0.0.0.0/0", "::/0", "10.1.2.3/16", "172.16.0.0/12,"],
];

const CAPTURE = given({
  "--proxy-uid": ["1337", "3,4", "0", "1000670000"],
  "--proxy-gid": ["1337", "1,2", "0"],
  "--envoy-port": ["15001", "16001"],
  "--inbound-capture-port": ["15006", "16006"],
  "--inbound-tunnel-port": ["15008", "16008"],
  "--istio-inbound-interception-mode": ["REDIRECT", "TPROXY"],
  "--istio-inbound-tproxy-mark": ["1337", "7"],
  "--istio-inbound-ports": ["*", ...PORTS],
  "--istio-local-exclude-ports": PORTS,
  "--istio-exclude-interfaces": ["", "eth9", "eth9,net1"],
  "--istio-service-cidr": ["*", ...BLOCKS],
  "--istio-service-exclude-cidr": BLOCKS,
  "--istio-outbound-ports": PORTS,
  "--istio-local-outbound-ports-exclude": PORTS,
  "--kube-virt-interfaces": ["", "eth1", "eth1,eth2"],
}, {
  "--proxy-uid": "PROXY_UID",
  "--istio-inbound-interception-mode": "ISTIO_INBOUND_INTERCEPTION_MODE",
  "--istio-inbound-ports": "ISTIO_INBOUND_PORTS",
  "--istio-service-cidr": "ISTIO_SERVICE_CIDR",
  "--kube-virt-interfaces": "KUBE_VIRT_INTERFACES",
});

const SWITCHES = fc.subarray(["--redirect-dns", "--capture-all-dns", "--drop-invalid", "--dual-stack"]);

const OWNERS = some({
  ISTIO_OUTBOUND_OWNER_GROUPS: ["*", "java", "java,202", "1,2,3"],
  ISTIO_OUTBOUND_OWNER_GROUPS_EXCLUDE: ["888,ftp", "java", "50"],
  ISTIO_OUTBOUND_IPV4_LOOPBACK_CIDR: ["127.0.0.1/32", "127.0.0.1/8"],
  ISTIO_META_DNS_CAPTURE: ["true", "false"],
});

const SETUP = fc.record({
  local_ips: fc.constantFrom(["10.1.1.1"], ["2001:db8:1::1"], ["10.1.1.1", "2001:db8:1::1"]),
  resolv_conf: one("nameserver 10.0.0.10\nnameserver 10.0.0.11\n", "search a\n", "nameserver 2001:db8::53\n"),
});

const capture = fc.tuple(CAPTURE, SWITCHES, OWNERS, SETUP, fc.constantFrom("iptables", "nft")).map(
  ([{ flags, env }, switches, owners, setup, backend]): CaptureCase => ({
    flags: [...flags, ...switches],
    env: { ...env, ...owners },
    setup,
    backend,
  }),
);

/* Bootstrap */

const PROXY_CONFIG = fc.record({
  serviceCluster: one("istio-proxy", "foo.bar"),
  drainDuration: one("2s", "45s", "1m"),
  discoveryAddress: one("istio-pilot:15010", "istiod.istio-system.svc:15012", "discovery.example.com:443"),
  proxyAdminPort: fc.constantFrom(15000, 14000),
  controlPlaneAuthPolicy: one("NONE", "MUTUAL_TLS"),
  statusPort: fc.constantFrom(15020, 15099),
  concurrency: fc.constantFrom(0, 4, -1),
  statsdUdpAddress: one("10.1.1.1:9125", "[::1]:8125", "10.1.1.1"),
  envoyMetricsService: fc.constantFrom({ address: "ms:15000" }, {
    address: "10.0.0.1:15000",
    tlsSettings: { mode: "MUTUAL", clientCertificate: "/c", privateKey: "/k", caCertificates: "/ca", sni: "x" },
    tcpKeepalive: { probes: 3, time: "10s" },
  }),
  tracing: fc.constantFrom<Record<string, unknown>>(
    { zipkin: { address: "localhost:6000" } },
    { zipkin: { address: "z:9411" }, sampling: 12.5 },
    {
      zipkin: { address: "z:9411" },
      tlsSettings: { mode: "SIMPLE", caCertificates: "/ca", subjectAltNames: ["a", "b"] },
    },
    { lightstep: { address: "lightstep:1234", accessToken: "tok" } },
    { lightstep: { address: "lightstep:1234", accessToken: "tok" }, tlsSettings: { mode: "ISTIO_MUTUAL" } },
    { datadog: { address: "$(HOST_IP):8126" } },
  ),
  envoyAccessLogService: fc.constantFrom({ address: "als:15001" }, {
    address: "10.0.0.1:15001",
    tlsSettings: { mode: "ISTIO_MUTUAL", subjectAltNames: ["spiffe://td/ns/a/sa/b"] },
    tcpKeepalive: { time: "5s", interval: "3s" },
  }),
  statsCompression: fc.boolean(),
  proxyStatsMatcher: fc.constantFrom(
    { inclusionPrefixes: ["a", "b"] },
    { inclusionRegexps: ["a\\.b", ".*"] },
    { inclusionRegexps: [`a=b&<c>"d"'e'`], inclusionSuffixes: ["_total"] },
  ),
  proxyMetadata: fc.constantFrom<Record<string, string>>(
    { ISTIO_META_X: "1", FOO: "bar" },
    { ISTIO_META_NETWORK: "n1", TRUST_DOMAIN: "td" },
    { METRICS_LOCALHOST_ACCESS_ONLY: "true" },
  ),
  extraStatTags: fc.constantFrom(["a", "b"]),
  terminationDrainDuration: one("7s"),
  interceptionMode: one("TPROXY", "NONE"),
  runtimeValues: fc.constantFrom({ "a.b": "1", x: "true" }),
}, { requiredKeys: [] });

const VARIABLES = some({
  INSTANCE_IP: ["10.3.3.3", "2001:db8::3", "10.3.3.3,10.4.4.4"],
  POD_NAME: ["foo", "web-6d4cf56db6-abcde"],
  POD_NAMESPACE: ["", "ns1"],
  SERVICE_ACCOUNT: ["sa"],
  HOST_IP: ["10.0.0.9"],
  ISTIO_META_CLUSTER_ID: ["c1"],
  ISTIO_META_WORKLOAD_NAME: ["wl"],
  ISTIO_META_INTERCEPTION_MODE: ["REDIRECT", "TPROXY"],
  ISTIO_META_APP_CONTAINERS: ["app,b"],
  ISTIO_META_DNS_CAPTURE: ["true", "false"],
  ISTIO_META_HTTP10: ["1"],
  ISTIO_METAJSON_LABELS: ['{"app":"x","version":"v1"}'],
  ISTIO_METAJSON_ANY: ['{"OWNER":"o","CLUSTER_ID":"c7"}'],
  ENVOY_STATUS_PORT: ["16021"],
  ENVOY_PROMETHEUS_PORT: ["16090"],
  EXIT_ON_ZERO_ACTIVE_CONNECTIONS: ["true", "1", "yes"],
  ISTIO_DUAL_STACK: ["true"],
  ISTIO_DELTA_XDS: ["false"],
  ISTIO_CPU_LIMIT: ["2", "bad"],
  PEER_METADATA_DISCOVERY: ["true"],
  CANONICAL_SERVICE: ["cs"],
  ENVOY_STATUS_PORT_ENABLE_PROXY_PROTOCOL: ["true"],
  ISTIO_META_ENABLE_SELF_DISCOVERY: ["true", "1", "F"],
  ISTIO_META_LOAD_STATS_CONFIG_JSON: ['{"api_type":"GRPC","transport_api_version":"V3"}'],
});

/** Our program serves these ports for both families, Istio's only for the first family. */
const SECURE_METRICS = some({ ENVOY_SECURE_METRICS_PORT: ["15091"], ENVOY_SECURE_MERGED_METRICS_PORT: ["15092"] });

const LABELS = some({
  app: ["a"],
  version: ["v1"],
  "service.istio.io/canonical-name": ["cn"],
  "istio-locality": ["r1.z1.s1"],
  "topology.kubernetes.io/region": ["rr"],
  "topology.istio.io/network": ["net"],
});

const ANNOTATIONS = some({
  "sidecar.istio.io/statsInclusionPrefixes": ["a,b"],
  "sidecar.istio.io/statsInclusionRegexps": ["a.*,b"],
  "sidecar.istio.io/extraStatTags": ["c,d"],
  "sidecar.istio.io/statsHistogramBuckets": ['{"istiocustom":[1,5,10]}', "bad"],
  "sidecar.istio.io/statsFlushInterval": ["10s"],
  "proxy.istio.io/config": ["concurrency: 3\n"],
  note: ['bar"baz'],
});

const AGENT_FLAGS = given({
  "--domain": ["bar", "$(POD_NAMESPACE).svc.cluster.local"],
  "--proxyLogLevel": ["debug"],
  "--proxyComponentLogLevel": ["misc:error"],
  "--concurrency": ["2"],
  "--serviceCluster": ["abc"],
  "--outlierLogPath": ["/dev/stdout"],
  "--stsPort": ["15463"],
  "--log_as_json": ["true"],
}, {});

const MESH = fc.option(
  fc.constantFrom(
    { trustDomain: "mesh.td", defaultConfig: { discoveryAddress: "mesh:15012", concurrency: 5 } },
    { enableTracing: true, defaultConfig: { tracing: { zipkin: { address: "mz:9411" } }, proxyMetadata: { M: "1" } } },
  ).map((mesh) => JSON.stringify(mesh)),
  { nil: null },
);

const bootstrap = fc.record({
  role: one("sidecar", "router", "waypoint"),
  given: AGENT_FLAGS,
  env: VARIABLES,
  secureMetrics: SECURE_METRICS,
  proxyConfig: PROXY_CONFIG,
  labels: LABELS,
  annotations: ANNOTATIONS,
  mesh: MESH,
  netns_ips: fc.constantFrom(["10.4.4.4"], ["10.4.4.4", "2001:db8::4"], ["2001:db8::4"]),
}).map(({ role, given, env, secureMetrics, proxyConfig, ...more }): AgentCase => ({
  ...more,
  flags: ["proxy", role, ...given.flags],
  env: {
    CLOUD_PLATFORM: "none",
    CA_ADDR: "127.0.0.1:15010",
    // Each program would otherwise use its own version.
    ISTIO_META_ISTIO_VERSION: "1.30.0",
    ...(env["ISTIO_DUAL_STACK"] === undefined ? secureMetrics : {}),
    ...env,
    PROXY_CONFIG: JSON.stringify({ configPath: "./etc/istio/proxy", binaryPath: "@FAKE_ENVOY@", ...proxyConfig }),
  },
}));
