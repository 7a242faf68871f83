import assert from "node:assert/strict";
import { defaultProxyConfig } from "./config.ts";
import { parseMeshConfig } from "./read/parse.ts";
import { inboundTrafficPolicyMode, proxySettings } from "./settings.ts";

function settings(text: string) {
  return proxySettings(defaultProxyConfig(parseMeshConfig(`defaultConfig: ${text}`)));
}

Deno.test("proxySettings: fields with their types, defaults of the mesh, and Go's zero values", () => {
  const read = settings("{concurrency: 3, controlPlaneAuthPolicy: NONE, proxyMetadata: {A: b}, runtimeValues: {c: d}}");
  assert.equal(read.concurrency, 3);
  assert.equal(read.controlPlaneAuthPolicy, "NONE");
  assert.deepEqual({ ...read.proxyMetadata }, { A: "b" });
  assert.deepEqual({ ...read.runtimeValues }, { c: "d" });
  const { concurrency, statusPort, proxyAdminPort, statsdUdpAddress, proxyMetadata } = settings("{}");
  assert.deepEqual([concurrency, statusPort, proxyAdminPort, statsdUdpAddress], [0, 15020, 15000, ""]);
  assert.deepEqual(Object.keys(proxyMetadata), []);
});

Deno.test("proxySettings: an enum that is set to an unknown number has its first name", () => {
  const read = proxySettings({ era: "current", data: { controlPlaneAuthPolicy: 7 } });
  assert.equal(read.controlPlaneAuthPolicy, "NONE");
});

Deno.test("inboundTrafficPolicyMode is passthrough unless it is LOCALHOST", () => {
  assert.equal(inboundTrafficPolicyMode(parseMeshConfig("inboundTrafficPolicy: {mode: LOCALHOST}")), "localhost");
  assert.equal(inboundTrafficPolicyMode(parseMeshConfig("")), "passthrough");
});
