import assert from "node:assert/strict";
import { defaultProxyConfig, type MeshConfig } from "./config.ts";
import type { Era } from "./era.ts";
import { parseMeshConfig } from "./read/parse.ts";
import {
  inboundTrafficPolicyMode,
  meshSettings,
  proxyImageType,
  proxySettings,
  wantsOtelServiceAttributes,
} from "./settings.ts";
import { MeshSettingsSchema, ProxySettingsSchema } from "./settings_schema.ts";

const TEXTS: readonly (readonly [text: string, era: Era])[] = [
  ["", "current"],
  ["", "1.8"],
  ["sdsUdsPath: /x\nenableSdsTokenMount: true", "1.1"],
  ["trustDomainAliases: [b, a]\nenablePrometheusMerge: false\nunknown: 1", "current"],
  ["defaultConfig: {concurrency: 0, interceptionMode: TPROXY, proxyMetadata: {A: b}, extraStatTags: [x]}", "current"],
  ["defaultConfig: {tracingServiceName: 1, holdApplicationUntilProxyStarts: true, extra: {a: 1}}", "current"],
];

/** What a zod schema makes of data, only the fields that the accessor has. */
function named(parsed: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, parsed[key]]));
}

function plain(value: object): object {
  return JSON.parse(JSON.stringify(value));
}

for (const [text, era] of TEXTS) {
  Deno.test(`proxySettings and meshSettings are what their schemas read: ${JSON.stringify(text)} (${era})`, () => {
    const mesh: MeshConfig = parseMeshConfig(text, "", era);
    const proxy = proxySettings(defaultProxyConfig(mesh));
    const ofProxy = ProxySettingsSchema.parse(defaultProxyConfig(mesh).data);
    assert.deepEqual(plain(proxy), plain(named(ofProxy, Object.keys(ProxySettingsSchema.shape))));
    const ofMesh = MeshSettingsSchema.parse(mesh.data);
    assert.deepEqual(plain(meshSettings(mesh)), plain(named(ofMesh, Object.keys(MeshSettingsSchema.shape))));
  });
}

Deno.test("the schemas refuse wrong types and allow unknown fields", () => {
  assert.equal(ProxySettingsSchema.safeParse({ statusPort: "x" }).success, false);
  assert.equal(ProxySettingsSchema.safeParse({ interceptionMode: "OFF" }).success, false);
  assert.equal(MeshSettingsSchema.safeParse({ trustDomain: 1 }).success, false);
  assert.equal(MeshSettingsSchema.parse({ future: 1 })["future"], 1);
});

Deno.test("inboundTrafficPolicyMode, proxyImageType and wantsOtelServiceAttributes read nested fields", () => {
  const mesh = parseMeshConfig(
    "inboundTrafficPolicy: {mode: LOCALHOST}\ndefaultConfig: {image: {imageType: debug}}\nextensionProviders:\n" +
      "- {name: o, opentelemetry: {service: a, port: 1, serviceAttributeEnrichment: OTEL_SEMANTIC_CONVENTIONS}}\n",
  );
  assert.equal(inboundTrafficPolicyMode(mesh), "localhost");
  assert.equal(proxyImageType(defaultProxyConfig(mesh)), "debug");
  assert.equal(wantsOtelServiceAttributes(mesh), true);
  const plainMesh = parseMeshConfig("");
  assert.equal(inboundTrafficPolicyMode(plainMesh), "passthrough");
  assert.equal(proxyImageType(defaultProxyConfig(plainMesh)), "");
  assert.equal(wantsOtelServiceAttributes(plainMesh), false);
});
