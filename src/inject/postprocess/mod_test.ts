import assert from "node:assert/strict";
import { parseMeshConfig } from "../../istio/mod.ts";
import { isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { annotationsOf, containersOf, findProxy, labelsOf, type Pod } from "../pod/pod.ts";
import { labelNetwork, proxyEnvs, setProxyEnvs } from "./cluster.ts";
import { reorder } from "./order.ts";
import { probeAbilities, rewriteProbes } from "./probes.ts";
import { annotateSecurePort, mergePrometheus } from "./prometheus.ts";

function podOf(text: string): Pod {
  const value = parseYaml(text);
  assert.ok(isMap(value));
  return value;
}

function names(pod: Pod, list: "containers" | "initContainers"): string[] {
  return containersOf(pod, list).map((container) => textAt(container, "name"));
}

function proxyEnv(pod: Pod): Record<string, string> {
  const env = mapsAt(findProxy(pod) ?? {}, "env");
  return Object.fromEntries(env.map((item) => [textAt(item, "name"), textAt(item, "value")]));
}

const ORDERS: readonly (readonly [string, string, boolean, string])[] = [
  ["a proxy comes last", "containers: [{name: istio-proxy}, {name: a}, {name: b}]", false, "| a b istio-proxy"],
  ["a proxy that is waited for comes first", "containers: [{name: a}, {name: istio-proxy}]", true, "| istio-proxy a"],
  [
    "traffic is captured after the user's init containers",
    "initContainers: [{name: enable-core-dump}, {name: istio-init}, {name: x}], containers: []",
    false,
    "x istio-init enable-core-dump |",
  ],
  [
    "validation comes before the user's init containers",
    "initContainers: [{name: x}, {name: istio-validation}], containers: []",
    false,
    "istio-validation x |",
  ],
  [
    "a native proxy comes before the user's init containers",
    "initContainers: [{name: x}, {name: enable-core-dump}, {name: istio-proxy}, {name: istio-validation}, {name: istio-init}], containers: []",
    false,
    "istio-init istio-validation istio-proxy enable-core-dump x |",
  ],
];

const abilities = probeAbilities(31, () => undefined);

for (const [why, spec, hold, wanted] of ORDERS) {
  Deno.test(`reorder: ${why}`, () => {
    const pod = reorder(podOf(`spec: {${spec}}`), hold);
    assert.equal(`${names(pod, "initContainers").join(" ")} | ${names(pod, "containers").join(" ")}`.trim(), wanted);
  });
}

const NETWORKS: readonly (readonly [string, string, Record<string, string>, Record<string, string>])[] = [
  ["values", "{}", {}, { ISTIO_META_CLUSTER_ID: "c", ISTIO_META_NETWORK: "net" }],
  ["what is given is over values", "{}", { ISTIO_META_NETWORK: "g" }, {
    ISTIO_META_CLUSTER_ID: "c",
    ISTIO_META_NETWORK: "g",
  }],
  ["the label is over all", "{topology.istio.io/network: l}", { ISTIO_META_NETWORK: "g" }, {
    ISTIO_META_CLUSTER_ID: "c",
    ISTIO_META_NETWORK: "l",
  }],
  ["an empty label is no network", "{topology.istio.io/network: ''}", {}, { ISTIO_META_CLUSTER_ID: "c" }],
];

for (const [why, labels, given, wanted] of NETWORKS) {
  Deno.test(`proxyEnvs: ${why}`, () => {
    const values = podOf("global: {network: net, multiCluster: {clusterName: c}}");
    assert.deepEqual(proxyEnvs(podOf(`metadata: {labels: ${labels}}`), values, given), wanted);
  });
}

Deno.test("setProxyEnvs: variables are appended, sorted; labelNetwork labels the network", () => {
  const pod = podOf("spec: {containers: [{name: istio-proxy, env: [{name: B, value: old}, {name: Z, value: z}]}]}");
  assert.deepEqual(Object.entries(proxyEnv(setProxyEnvs(pod, { B: "b", A: "a" }, false))), [["Z", "z"], ["A", "a"], [
    "B",
    "b",
  ]]);
  assert.equal(labelsOf(labelNetwork(pod, { ISTIO_META_NETWORK: "n" }))["topology.istio.io/network"], "n");
});

interface Scrape {
  readonly why: string;
  readonly annotations: string;
  readonly mesh?: string;
  /** The agent's variable; `undefined` if it is not set. */
  readonly reported?: string;
  /** `prometheus.io/port` after injection. */
  readonly port?: string;
}

const AGENT = { statusPort: "15020", minor: 31 };

const SCRAPES: readonly Scrape[] = [
  { why: "nothing asked", annotations: "{}", port: "15020" },
  {
    why: "port and path",
    annotations: "{prometheus.io/port: '80', prometheus.io/path: /m}",
    reported: '{"scrape":"","path":"/m","port":"80"}',
    port: "15020",
  },
  {
    why: "another spelling",
    annotations: "{prometheus-io/port: '80'}",
    reported: '{"scrape":"","path":"","port":"80"}',
    port: "15020",
  },
  { why: "scrape is false", annotations: "{prometheus.io/scrape: 'false', prometheus.io/port: '80'}", port: "80" },
  { why: "merging is off in the mesh", annotations: "{}", mesh: "enablePrometheusMerge: false" },
  {
    why: "merging is on for the pod",
    annotations: "{prometheus.istio.io/merge-metrics: 'true'}",
    mesh: "enablePrometheusMerge: false",
    port: "15020",
  },
  { why: "the agent's port already", annotations: "{prometheus.io/port: '15020'}", port: "15020" },
  {
    why: "the first target is over port and path",
    annotations:
      "{prometheus.io/port: '15090', prometheus.io/path: /x, prometheus.istio.io/scrape-targets: '80:/m, 81'}",
    reported:
      '{"scrape":"","path":"/m","port":"80","targets":[{"port":"80","path":"/m"},{"port":"81","path":"/metrics"}]}',
    port: "15020",
  },
  {
    why: "targets that cannot be read are none",
    annotations: "{prometheus.istio.io/scrape-targets: ':/m'}",
    port: "15020",
  },
];

for (const { why, annotations, mesh = "", reported, port } of SCRAPES) {
  Deno.test(`mergePrometheus: ${why}`, () => {
    const pod = podOf(`{metadata: {annotations: ${annotations}}, spec: {containers: [{name: istio-proxy}]}}`);
    const merged = mergePrometheus(pod, parseMeshConfig(mesh, ""), AGENT);
    assert.equal(proxyEnv(merged)["ISTIO_PROMETHEUS_ANNOTATIONS"], reported);
    assert.equal(annotationsOf(merged)["prometheus.io/port"], port);
  });
}

for (const port of ["15000", "15001", "15004", "15006", "15008", "15021", "15053", "15090", "0", "65536", "x", "-1"]) {
  for (const name of ["prometheus.io/port", "prometheus.istio.io/scrape-targets"]) {
    Deno.test(`mergePrometheus: ${name} ${port} cannot be scraped`, () => {
      const pod = podOf(`metadata: {annotations: {${name}: '${port}'}}`);
      assert.throws(() => mergePrometheus(pod, parseMeshConfig("", ""), AGENT), new RegExp(`"${name}".*"${port}"`));
    });
  }
}

Deno.test("mergePrometheus: releases before 1.31 know no targets, and take any port", () => {
  const annotations = "{prometheus.io/port: '15090', prometheus.istio.io/scrape-targets: '80:/m'}";
  const pod = podOf(`{metadata: {annotations: ${annotations}}, spec: {containers: [{name: istio-proxy}]}}`);
  const merged = mergePrometheus(pod, parseMeshConfig("", ""), { ...AGENT, minor: 30 });
  assert.equal(proxyEnv(merged)["ISTIO_PROMETHEUS_ANNOTATIONS"], '{"scrape":"","path":"","port":"15090"}');
  assert.equal(annotationsOf(merged)["prometheus.istio.io/scrape-targets"], "80:/m");
});

Deno.test("mergePrometheus: releases before 1.13 read the exact names, and not whether to scrape", () => {
  const annotations = "{prometheus.io/scrape: 'false', prometheus-io/port: '80'}";
  const pod = podOf(`{metadata: {annotations: ${annotations}}, spec: {containers: [{name: istio-proxy}]}}`);
  const merged = mergePrometheus(pod, parseMeshConfig("", ""), { ...AGENT, minor: 12 });
  assert.equal(proxyEnv(merged)["ISTIO_PROMETHEUS_ANNOTATIONS"], '{"scrape":"false","path":"","port":""}');
  assert.deepEqual({ ...annotationsOf(merged) }, {
    "prometheus.io/scrape": "true",
    "prometheus-io/port": "80",
    "prometheus.io/port": "15020",
    "prometheus.io/path": "/stats/prometheus",
  });
});

const PORTS: readonly (readonly [string, string, string | undefined])[] = [
  ["15091", "{}", "15091"],
  ["0", "{}", undefined],
  ["", "{}", undefined],
  ["15091", "{prometheus_istio.io/secure-port: '1'}", undefined],
];

for (const [port, annotations, wanted] of PORTS) {
  Deno.test(`annotateSecurePort: "${port}" with ${annotations} gives ${wanted}`, () => {
    const env = `[{name: ENVOY_SECURE_MERGED_METRICS_PORT, value: '${port}'}]`;
    const pod = podOf(
      `{metadata: {annotations: ${annotations}}, spec: {containers: [{name: istio-proxy, env: ${env}}]}}`,
    );
    assert.equal(annotationsOf(annotateSecurePort(pod))["prometheus.istio.io/secure-port"], wanted);
  });
}

const PROBE_PORTS = "ports: [{name: web, containerPort: 8080}]";

/** A readiness probe, the handler in the agent's variable, and the port that the kubelet probes. */
const PROBES: readonly (readonly [string, string | undefined, string | undefined])[] = [
  ["httpGet: {port: 80, path: /a}", '{"httpGet":{"path":"/a","port":80}}', "15020"],
  ["httpGet: {port: web}, timeoutSeconds: 3", '{"httpGet":{"port":8080},"timeoutSeconds":3}', "15020"],
  ["httpGet: {port: nowhere}", undefined, "15020"],
  ["httpGet: {port: 15020}", undefined, "15020"],
  ["tcpSocket: {port: 80, host: h}", '{"tcpSocket":{"port":80,"host":"h"}}', "15020"],
  ["grpc: {port: 80}", '{"grpc":{"port":80,"service":null}}', "15020"],
  ["exec: {command: [a]}", undefined, undefined],
];

for (const [probe, reported, port] of PROBES) {
  Deno.test(`rewriteProbes: {${probe}}`, () => {
    const pod = podOf(
      `spec: {containers: [{name: a, ${PROBE_PORTS}, readinessProbe: {${probe}}}, {name: istio-proxy}]}`,
    );
    const done = rewriteProbes(pod, { rewriteByDefault: true, meshStatusPort: 15020, reinjected: false, abilities });
    const wanted = reported === undefined ? undefined : `{"/app-health/a/readyz":${reported}}`;
    assert.equal(proxyEnv(done)["ISTIO_KUBE_APP_PROBERS"], wanted);
    const action = mapAt(readiness(done), "httpGet");
    assert.equal(action["port"]?.toString(), port);
    assert.equal(textAt(action, "path"), port === undefined ? "" : "/app-health/a/readyz");
  });
}

function readiness(pod: Pod): ValueMap {
  return mapAt(containersOf(pod, "containers")[0] ?? {}, "readinessProbe");
}

const REWRITES: readonly (readonly [string, boolean, boolean])[] = [
  ["{sidecar.istio.io/rewriteAppHTTPProbers: 'true'}", false, true],
  ["{sidecar.istio.io/rewriteAppHTTPProbers: 'false'}", true, false],
  ["{sidecar.istio.io/rewriteAppHTTPProbers: maybe}", true, true],
  ["{}", false, false],
];

for (const [annotations, rewriteByDefault, rewritten] of REWRITES) {
  Deno.test(`rewriteProbes: ${annotations}, ${rewriteByDefault} by default: ${rewritten}`, () => {
    const spec = "containers: [{name: a, readinessProbe: {httpGet: {port: 80}}}, {name: istio-proxy}]";
    const pod = podOf(`{metadata: {annotations: ${annotations}}, spec: {${spec}}}`);
    const done = rewriteProbes(pod, { rewriteByDefault, meshStatusPort: 15020, reinjected: false, abilities });
    assert.equal(textAt(mapAt(readiness(done), "httpGet"), "path") !== "", rewritten);
  });
}
