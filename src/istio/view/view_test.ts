import assert from "node:assert/strict";
import { goJson } from "../../golang/go_json.ts";
import { GoInt, GoStruct, type GoValue, kindOf, parse, pure, typeOf } from "../../golang/gotemplate/mod.ts";
import { defaultProxyConfig } from "../config.ts";
import { defaultsOf } from "../read/defaults.ts";
import type { Era } from "../era.ts";
import { parseMeshConfig } from "../read/parse.ts";
import { meshConfigView, proxyConfigView } from "./view.ts";
import { DurationView } from "./view_types.ts";

/** Returns the value of a chain such as `.GetTracing.GetZipkin.GetAddress`, as text if Go prints the value as text. */
function read(root: GoValue, chain: string): GoValue | undefined {
  let value: GoValue | undefined = root;
  for (const name of chain.split(".")) value = value instanceof GoStruct ? value.get(name) : undefined;
  if (value instanceof GoInt) return value.value;
  return value instanceof GoStruct ? value.text() ?? value.goType : value;
}

function proxyOf(text: string, era: Era = "current"): GoStruct {
  return proxyConfigView(defaultProxyConfig(parseMeshConfig(`defaultConfig: ${text}`, "", era)));
}

const CHAINS: readonly (readonly [yaml: string, chain: string, value: GoValue | undefined, era?: Era])[] = [
  ["{}", "DiscoveryAddress", "istiod.istio-system.svc:15012"],
  ["{}", "InterceptionMode", "REDIRECT"],
  ["{interceptionMode: TPROXY}", "InterceptionMode.String", "TPROXY"],
  ["{interceptionMode: TPROXY}", "InterceptionMode.Number", 1n],
  ["{controlPlaneAuthPolicy: NONE}", "ControlPlaneAuthPolicy", "NONE"],
  ["{}", "HoldApplicationUntilProxyStarts.GetValue", false],
  ["{holdApplicationUntilProxyStarts: true}", "HoldApplicationUntilProxyStarts.GetValue", true],
  ["{}", "HoldApplicationUntilProxyStarts", "<nil>"],
  ["{}", "HoldApplicationUntilProxyStarts.Value", undefined],
  ["{concurrency: 2}", "Concurrency", "value:2"],
  ["{concurrency: 2}", "Concurrency.GetValue", 2n],
  ["{}", "Concurrency.GetValue", 0n],
  ["{}", "DrainDuration", "seconds:45"],
  ["{}", "DrainDuration.AsDuration", "45s"],
  ["{}", "DrainDuration.GetSeconds", 45n],
  ["{drainDuration: 90s}", "DrainDuration.AsDuration.Minutes", 1.5],
  ["{}", "FileFlushInterval.AsDuration", "0s"],
  ["{}", "FileFlushInterval", "<nil>"],
  ["{}", "GetTracing.GetTlsSettings.GetCaCertificates", ""],
  ["{}", "Tracing", "<nil>"],
  ["{}", "Tracing.Sampling", undefined],
  ["{}", "Image.GetImageType", ""],
  ["{image: {imageType: debug}}", "Image.ImageType", "debug"],
  ["{tracing: {zipkin: {address: 'z:1'}}}", "GetTracing.GetZipkin.GetAddress", "z:1"],
  ["{tracing: {zipkin: {address: 'z:1'}}}", "Tracing.GetLightstep.GetAddress", ""],
  ["{tracing: {zipkin: {address: 'z:1'}}}", "Tracing.Tracer.Zipkin.Address", "z:1"],
  ["{tracing: {zipkin: {address: 'z:1'}, sampling: 1.5}}", "Tracing", 'zipkin:{address:"z:1"} sampling:1.5'],
  ["{}", "GetServiceCluster", "istio-proxy"],
  ["{}", "ServiceCluster", undefined],
  ["{}", "ServiceCluster", "istio-proxy", "1.8"],
  ["{}", "ClusterName.ServiceCluster", "istio-proxy"],
  ["{}", "StatusPort", 15020n],
  ["{}", "Nothing", undefined],
  ["{}", "Concurrency.GetValue", 2n, "1.8"],
  ["{}", "Concurrency", 0n, "1.1"],
  ["{}", "ParentShutdownDuration.AsDuration", "1m0s", "1.8"],
  ["{}", "ConnectTimeout.GetSeconds", 1n, "1.1"],
  ["{}", "ControlPlaneAuthPolicy", "NONE", "1.1"],
  ["{}", "GetTracing.GetZipkin.GetAddress", "zipkin.istio-system:9411", "1.8"],
];

for (const [yaml, chain, value, era = "current"] of CHAINS) {
  Deno.test(`proxyConfigView gives .${chain} of ${yaml} as ${value} (${era})`, () => {
    assert.equal(read(proxyOf(yaml, era), chain), value);
  });
}

Deno.test("meshConfigView has ports, wrappers and texts by their Go names", () => {
  const mesh = meshConfigView(parseMeshConfig("trustDomain: a.b\naccessLogEncoding: JSON"));
  assert.equal(read(mesh, "ProxyListenPort"), 15001n);
  assert.equal(read(mesh, "ProxyInboundListenPort"), 15006n);
  assert.equal(read(mesh, "TrustDomain"), "a.b");
  assert.equal(read(mesh, "EnableAutoMtls.GetValue"), true);
  assert.equal(read(mesh, "EnableTracing"), true);
  assert.equal(read(mesh, "AccessLogEncoding"), "JSON");
  assert.equal(read(mesh, "DefaultConfig.StatusPort"), 15020n);
});

Deno.test("meshConfigView has the fields that templates of an era read", () => {
  const mesh = meshConfigView(parseMeshConfig("sdsUdsPath: /x\nmixerCheckServer: a:1", "", "1.1"));
  assert.equal(read(mesh, "SdsUdsPath"), "/x");
  assert.equal(read(mesh, "MixerCheckServer"), "a:1");
  assert.equal(read(mesh, "EnableSdsTokenMount"), false);
});

Deno.test("views have Go types, also maps and lists", () => {
  const proxy = proxyOf("{proxyMetadata: {A: b}, tracing: {customTags: {x: {}}}}");
  const chains = ["ProxyMetadata", "ExtraStatTags", "Tracing", "InterceptionMode", "StatusPort"];
  assert.deepEqual(chains.map((name) => typeOf(proxy.get(name) ?? null)), [
    "map[string]string",
    "[]string",
    "*v1alpha1.Tracing",
    "v1alpha1.ProxyConfig_InboundInterceptionMode",
    "int32",
  ]);
});

Deno.test("an unset message is a nil pointer", () => {
  const proxy = proxyOf("{}");
  for (const name of ["Tracing", "GetTracing", "FileFlushInterval", "Concurrency"]) {
    const value = proxy.get(name);
    assert.ok(value instanceof GoStruct && value.isNil, name);
  }
});

Deno.test("a view as JSON is proto3 JSON in declaration order", () => {
  assert.equal(
    goJson(proxyOf("{tracing: {sampling: 5, zipkin: {address: 'a:1'}}}").get("Tracing") ?? null),
    '{"zipkin":{"address":"a:1"},"sampling":5}',
  );
});

Deno.test("fieldNames are the Go fields, a oneof as one", () => {
  const names = proxyConfigView(defaultProxyConfig(defaultsOf("current"))).fieldNames();
  assert.deepEqual(names.slice(0, 4), ["ConfigPath", "BinaryPath", "ClusterName", "DrainDuration"]);
});

Deno.test("DurationView has its length in nanoseconds", () => {
  const drain = proxyOf("{}").get("DrainDuration");
  assert.ok(drain instanceof DurationView);
  assert.equal(drain.nanoseconds, 45_000_000_000n);
});

Deno.test("an enum and a duration are integers in templates: printed, compared and tested by their number", () => {
  const data = { pc: proxyOf("{interceptionMode: TPROXY, drainDuration: 45s}") };
  const text = '{{ printf "%d %v %s %t" .pc.InterceptionMode .pc.InterceptionMode .pc.InterceptionMode true }} ' +
    "{{ eq .pc.InterceptionMode 1 }} {{ if .pc.InterceptionMode }}yes{{ end }} " +
    '{{ printf "%d" .pc.DrainDuration.AsDuration }} {{ kindOf .pc.InterceptionMode }}';
  const template = parse("t", text, { funcs: { kindOf: pure(["interface {}"], kindOf) } });
  assert.equal(template.render(data), "1 TPROXY TPROXY true true yes 45000000000 int32");
  const zero = proxyOf("{interceptionMode: REDIRECT}");
  assert.equal(parse("t", "{{ if .InterceptionMode }}yes{{ else }}no{{ end }}").render(zero), "no");
});
