import assert from "node:assert/strict";
import { enumType, goName, jsonName, MESH_CONFIG, messageType, PROXY_CONFIG } from "./schema.ts";
import { ENUMS, MESSAGES } from "./schema_data.ts";

const NAMES: readonly (readonly [proto: string, json: string, go: string])[] = [
  ["proxy_metadata", "proxyMetadata", "ProxyMetadata"],
  ["mesh_mTLS", "meshMTLS", "MeshMTLS"],
  ["k8s_sa_jwt_path", "k8sSaJwtPath", "K8SSaJwtPath"],
  ["enable_64bit_trace_id", "enable64bitTraceId", "Enable_64BitTraceId"],
  ["consecutive_5xx_errors", "consecutive5xxErrors", "Consecutive_5XxErrors"],
  ["matchLabels", "matchLabels", "MatchLabels"],
  ["h2_upgrade_policy", "h2UpgradePolicy", "H2UpgradePolicy"],
];

Deno.test("jsonName and goName derive the names that protoc derives", () => {
  for (const [proto, json, go] of NAMES) {
    assert.equal(jsonName(proto), json);
    assert.equal(goName(proto), go);
  }
});

Deno.test("messageType reads every message and enum of the table", () => {
  for (const name of Object.keys(MESSAGES)) assert.equal(messageType(name, "current").name, name);
  for (const name of Object.keys(ENUMS)) assert.ok(enumType(name).numbers.size > 0, name);
});

Deno.test("messageType has both spellings of a field and knows its kind", () => {
  const proxy = messageType(PROXY_CONFIG, "current");
  assert.equal(proxy.byKey.get("drain_duration"), proxy.byKey.get("drainDuration"));
  assert.deepEqual(proxy.byKey.get("concurrency")?.kind, { is: "wrapper", type: "int32", name: "Int32Value" });
  assert.equal(proxy.byKey.get("proxyMetadata")?.shape, "map");
  assert.equal(proxy.byKey.get("serviceCluster")?.oneof, "cluster_name");
});

Deno.test("messageType has the fields of an era in place", () => {
  const names = messageType(PROXY_CONFIG, "1.8").fields.map((field) => field.name);
  assert.equal(names[names.indexOf("drain_duration") + 1], "parent_shutdown_duration");
  assert.equal(messageType(PROXY_CONFIG, "1.8").byKey.get("serviceCluster")?.oneof, undefined);
  assert.deepEqual(messageType(PROXY_CONFIG, "1.1").byKey.get("concurrency")?.kind, { is: "scalar", type: "int32" });
  assert.equal(messageType(PROXY_CONFIG, "current").byKey.has("parentShutdownDuration"), false);
  assert.equal(messageType(MESH_CONFIG, "1.1").fields[0]?.name, "mixer_check_server");
});

Deno.test("messageType and enumType throw for an unknown name", () => {
  assert.throws(() => messageType("v1alpha1.Nothing", "current"), /no type v1alpha1\.Nothing/);
  assert.throws(() => enumType("v1alpha1.Nothing"), /no type/);
});
