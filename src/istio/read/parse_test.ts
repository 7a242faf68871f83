import assert from "node:assert/strict";
import { MeshError } from "../../base/errors.ts";
import { goJson } from "../../golang/go_json.ts";
import { valueAt } from "../../base/value.ts";
import { defaultProxyConfig } from "../config.ts";
import { defaultsOf } from "./defaults.ts";
import type { Era } from "../era.ts";
import { applyProxyConfigAnnotation, parseMeshConfig, parseProxyConfig, proxyConfigProblems } from "./parse.ts";
import { protoToJson } from "../write/proto_json.ts";

function errorOf(action: () => unknown): MeshError {
  try {
    action();
  } catch (error) {
    if (error instanceof MeshError) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: "Nothing was thrown" });
}

/** Invalid texts, with the message, the field as written, and the line. */
const REFUSED: readonly (readonly [text: string, message: string, field: string, line: number])[] = [
  [
    "trustDomain: a\ndefaultConfig:\n  proxyMetadata:\n    A.B: 1\n",
    'Invalid mesh configuration: "defaultConfig.proxyMetadata.A.B" must be a string, not the number 1',
    'defaultConfig.proxyMetadata["A.B"]',
    4,
  ],
  [
    "default_config:\n  drain_duration: soon\n",
    'Invalid mesh configuration: "defaultConfig.drainDuration" must be a duration such as "45s", not "soon": a number is missing',
    "default_config.drain_duration",
    2,
  ],
  [
    "\nconnectTimeout: 2h\n",
    'Invalid mesh configuration: "connectTimeout" must be at most an hour, not "7200s"',
    "connectTimeout",
    2,
  ],
  [
    "extensionProviders:\n- name: a\n- name: [b]\n",
    'Invalid mesh configuration: "extensionProviders[1].name" must be a string, not a list',
    "extensionProviders[1].name",
    3,
  ],
  [
    "enableTracing: 1\naccessLogEncoding: XML\n",
    'Invalid mesh configuration: "enableTracing" must be true or false, not the number 1; ' +
    '"accessLogEncoding" must be one of TEXT, JSON, not the text "XML"',
    "enableTracing",
    1,
  ],
];

for (const [text, message, field, line] of REFUSED) {
  Deno.test(`parseMeshConfig reports field and place of ${JSON.stringify(text)}`, () => {
    const error = errorOf(() => parseMeshConfig(text, "mesh.yaml"));
    assert.equal(error.message, message);
    assert.deepEqual([error.place?.file, error.place?.field, error.place?.line], ["mesh.yaml", field, line]);
  });
}

Deno.test("parseMeshConfig reads the key mesh of a ConfigMap", () => {
  const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio}\ndata:\n  mesh: |-\n    trustDomain: "x.y"\n';
  assert.equal(parseMeshConfig(text).data["trustDomain"], "x.y");
});

Deno.test("parseMeshConfig reports a ConfigMap without the key mesh, and an error inside", () => {
  const without = errorOf(() => parseMeshConfig("kind: ConfigMap\ndata: {values: '{}'}\n", "cm.yaml"));
  assert.equal(without.message, 'The ConfigMap has no string under the key "mesh"');
  const inside = errorOf(() => parseMeshConfig("kind: ConfigMap\ndata: {mesh: 'trustDomain: 1'}\n", "cm.yaml"));
  assert.equal(inside.place?.file, 'cm.yaml (key "mesh")');
});

Deno.test("parseMeshConfig rejects a list and a second document", () => {
  assert.equal(errorOf(() => parseMeshConfig("- a\n")).message, "The mesh configuration must be a mapping");
  const second = errorOf(() => parseMeshConfig("a: 1\n---\nb: 2\n", "m.yaml"));
  assert.equal(second.message, "The mesh configuration has more than one document");
  assert.equal(second.place?.line, 3);
});

Deno.test("parseMeshConfig of an empty text gives the defaults of the era", () => {
  const eras: readonly Era[] = ["1.1", "1.8", "current"];
  for (const era of eras) assert.deepEqual(parseMeshConfig("# nothing\n", "", era), defaultsOf(era));
});

Deno.test("parseMeshConfig keeps unknown fields", () => {
  const mesh = parseMeshConfig("future: {a: [1]}\ndefaultConfig: {alsoNew: x}");
  assert.equal(goJson(valueAt(mesh.data, "future") ?? null), '{"a":[1]}');
  assert.equal(valueAt(defaultProxyConfig(mesh).data, "alsoNew"), "x");
});

Deno.test("parseMeshConfig merges default_config as defaultConfig", () => {
  const proxy = defaultProxyConfig(parseMeshConfig("default_config: {status_port: 15021}"));
  assert.equal(proxy.data["statusPort"], 15021);
  assert.equal(proxy.data["configPath"], "./etc/istio/proxy");
});

Deno.test("parseProxyConfig gives only the fields that the text sets", () => {
  assert.deepEqual({ ...parseProxyConfig('{"drain_duration": "1m", "concurrency": "2"}').data }, {
    drainDuration: "60s",
    concurrency: 2,
  });
});

Deno.test("parseProxyConfig does not check values, only types", () => {
  assert.equal(parseProxyConfig("statusPort: 0").data["statusPort"], 0);
  assert.match(
    errorOf(() => parseProxyConfig("statusPort: x")).message,
    /^Invalid proxy configuration: "statusPort" must be/,
  );
});

Deno.test("applyProxyConfigAnnotation merges over defaultConfig and does not change the mesh", () => {
  const mesh = parseMeshConfig("defaultConfig: {proxyMetadata: {A: a, B: b}, concurrency: 1}");
  const merged = applyProxyConfigAnnotation(mesh, "proxyMetadata: {B: c}\ndrainDuration: 5s");
  assert.equal(
    protoToJson(defaultProxyConfig(merged)),
    '{"drainDuration":"5s","concurrency":1,"proxyMetadata":{"A":"a","B":"c"}}',
  );
  assert.equal(protoToJson(defaultProxyConfig(mesh)), '{"concurrency":1,"proxyMetadata":{"A":"a","B":"b"}}');
});

const OF_1_8: readonly (readonly [text: string, json: string])[] = [
  ["{}", "{}"],
  [
    "{proxyMetadata: {DNS_AGENT: ''}, tracing: {zipkin: {address: 'zipkin.istio-system:9411'}}}",
    '{"proxyMetadata":{"DNS_AGENT":""}}',
  ],
  ["{drainDuration: 23s, parentShutdownDuration: 42s}", '{"drainDuration":"23s","parentShutdownDuration":"42s"}'],
  ["{interceptionMode: TPROXY, concurrency: 2}", '{"interceptionMode":"TPROXY"}'],
  ["{concurrency: 0}", '{"concurrency":0}'],
];

Deno.test("protoToJson of 1.8 leaves out the defaults of 1.8 and has its fields in its order", () => {
  for (const [text, json] of OF_1_8) {
    assert.equal(protoToJson(defaultProxyConfig(parseMeshConfig(`defaultConfig: ${text}`, "", "1.8"))), json);
  }
});

Deno.test("proxyConfigProblems checks over the defaults of the era", () => {
  assert.deepEqual(proxyConfigProblems("statusPort: 0", "1.1"), []);
  assert.equal(proxyConfigProblems("statusPort: 0", "current")[0]?.field, "statusPort");
  const fields = proxyConfigProblems("concurrency: x\ndrainDuration: 1ms", "current").map(({ field }) => field);
  assert.deepEqual(fields, ["concurrency", "drainDuration"]);
});
