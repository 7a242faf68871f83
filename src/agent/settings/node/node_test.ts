import assert from "node:assert/strict";
import type { ValueMap } from "../../../base/value.ts";
import { nodeOf, type NodeSource } from "./node.ts";

const NOTHING: NodeSource = {
  id: "sidecar~10.0.0.5~a.b~c",
  env: {},
  istioVersion: "1.31.1",
  proxyConfig: {},
  proxyMetadata: {},
  podLabels: undefined,
  podAnnotations: undefined,
  known: {},
  extra: {},
  metadataDiscovery: undefined,
};

function node(source: Partial<NodeSource>) {
  const notes = { problems: [], warnings: [] };
  return { ...nodeOf({ ...NOTHING, ...source }, notes), ...notes };
}

function metadata(env: Record<string, string>, source: Partial<NodeSource> = {}): ValueMap {
  const { metadata, problems } = node({ env, ...source });
  assert.deepEqual(problems, []);
  return metadata;
}

Deno.test("nodeOf: ISTIO_META_ of the environment wins over proxyMetadata; unknown keys pass, empty ones too", () => {
  const proxyMetadata = { ISTIO_META_A: "1", ISTIO_META_B: "1", OTHER: "x" };
  const { A, B, C, OTHER } = metadata({ ISTIO_META_B: "2", ISTIO_META_C: "" }, { proxyMetadata });
  assert.deepEqual([A, B, C, OTHER], ["1", "2", "", undefined]);
});

Deno.test("nodeOf: the keys of ISTIO_METAJSON_ objects are metadata; they never replace typed fields", () => {
  const made = metadata({ ISTIO_METAJSON_X: '{"n":1,"t":{"a":[true]},"NAME":"json"}', POD_NAME: "pod" });
  assert.deepEqual([made["n"], JSON.stringify(made["t"]), made["NAME"]], [1, '{"a":[true]}', "pod"]);
});

Deno.test("nodeOf: the release of Istio is the agent's, or ISTIO_META_ISTIO_VERSION", () => {
  assert.equal(metadata({})["ISTIO_VERSION"], "1.31.1");
  assert.equal(metadata({ ISTIO_META_ISTIO_VERSION: "1.29.0" })["ISTIO_VERSION"], "1.29.0");
});

Deno.test("nodeOf: invalid JSON is ignored with a warning", () => {
  for (const bad of ["{bad", "[1]", '"x"', ""]) {
    assert.equal(node({ env: { ISTIO_METAJSON_X: bad } }).warnings.length, 1, bad);
  }
  assert.equal(node({ env: { ISTIO_METAJSON_X: "null" } }).warnings.length, 0);
});

Deno.test("nodeOf: booleans are strings, written only if true; given values stay", () => {
  const made = metadata({
    ISTIO_META_DNS_CAPTURE: "1",
    ISTIO_META_ENABLE_HBONE: "f",
    ISTIO_META_ENABLE_SELF_DISCOVERY: "T",
  });
  assert.equal(made["ENABLE_SELF_DISCOVERY"], "true");
  assert.deepEqual([made["DNS_CAPTURE"], made["ENABLE_HBONE"], made["METADATA_DISCOVERY"]], ["true", "f", "false"]);
});

Deno.test("nodeOf: metadata discovery as configured, otherwise the same as HBONE", () => {
  const env = { ISTIO_META_ENABLE_HBONE: "true" };
  assert.equal(metadata(env)["METADATA_DISCOVERY"], "true");
  assert.equal(metadata(env, { metadataDiscovery: false })["METADATA_DISCOVERY"], "false");
});

Deno.test("nodeOf: ports are a JSON string, each with a protocol", () => {
  const ports = (text: string) => metadata({ ISTIO_META_POD_PORTS: text })["POD_PORTS"];
  assert.equal(
    ports('[{"containerPort":80,"name":"a","extra":1}]'),
    '[{"name":"a","containerPort":80,"protocol":""}]',
  );
  assert.equal(ports("[]"), "[]");
});

Deno.test("nodeOf: typed fields of a wrong type are problems with field and value", () => {
  const bad = {
    ISTIO_META_DNS_CAPTURE: "maybe",
    ISTIO_META_POD_PORTS: '[{"containerPort":"80"}]',
    ISTIO_META_LABELS: "x",
    ISTIO_META_ENVOY_STATUS_PORT: "15021",
    ISTIO_METAJSON_X: '{"NETWORK":1,"DNS_AUTO_ALLOCATE":true,"PILOT_SAN":[1],"PROXY_CONFIG":1,"INSTANCE_IPS":[]}',
  };
  const { problems } = node({ env: bad });
  assert.equal(problems.length, 9);
  assert.match(String(problems), /The node metadata "DNS_CAPTURE" must be "true" or "false", not "maybe"/);
});

Deno.test("nodeOf: file labels win over static ones, without the template hash", () => {
  const { labels, metadata } = node({
    env: { ISTIO_METAJSON_LABELS: '{"a":"1","b":"1","n":2}' },
    podLabels: new Map([["b", "2"], ["pod-template-hash", "5d4"]]),
  });
  assert.deepEqual([...labels], [["a", "1"], ["b", "2"]]);
  assert.equal(
    JSON.stringify([metadata["LABELS"], metadata["STATIC_LABELS"]]),
    '[{"a":"1","b":"2"},{"a":"1","b":"1"}]',
  );
});

Deno.test("nodeOf: the locality is written back with slashes", () => {
  const { locality, metadata } = node({
    podLabels: new Map([["topology.istio.io/locality", "r.z.s"], ["istio-locality", "x"]]),
  });
  assert.deepEqual(locality, { region: "r", zone: "z", subZone: "s" });
  assert.equal(JSON.stringify(metadata["LABELS"]), '{"istio-locality":"r/z/s","topology.istio.io/locality":"r.z.s"}');
  assert.deepEqual(node({ podLabels: new Map([["istio-locality", "r.1/z"]]) }).locality, {
    region: "r.1",
    zone: "z",
    subZone: "",
  });
});

Deno.test("nodeOf: fields that the agent sets win; zero values remove a field", () => {
  const made = metadata({ ISTIO_META_STS_PORT: "1" }, {
    known: {
      STS_PORT: "",
      ENVOY_STATUS_PORT: 15021,
      ENVOY_SECURE_METRICS_PORT: 0,
      EXIT_ON_ZERO_ACTIVE_CONNECTIONS: true,
    },
  });
  const { STS_PORT, ENVOY_STATUS_PORT, ENVOY_SECURE_METRICS_PORT, EXIT_ON_ZERO_ACTIVE_CONNECTIONS } = made;
  // The variable itself goes through, as one that no type has.
  assert.deepEqual([STS_PORT, ENVOY_STATUS_PORT, ENVOY_SECURE_METRICS_PORT], ["1", 15021, undefined]);
  assert.equal(EXIT_ON_ZERO_ACTIVE_CONNECTIONS, "true");
});

Deno.test("nodeOf: keys are sorted and may be any text", () => {
  const keys = Object.keys(metadata({ ISTIO_METAJSON_X: '{"__proto__":1,"constructor":2}', ISTIO_META_Z: "1" }));
  assert.deepEqual(keys, [...keys].sort());
  assert.ok(keys.includes("__proto__") && keys.includes("constructor"));
});
