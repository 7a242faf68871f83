import assert from "node:assert/strict";
import { parseYaml } from "../../yaml/mod.ts";
import { isMap, valueAt } from "../../base/value.ts";
import { BUILT_IN } from "../default/mod.ts";
import { configurationOf, describeConfiguration, showConfiguration } from "./sources.ts";
import { parseValues } from "./values.ts";

function valuesOf(given: Parameters<typeof configurationOf>[0]) {
  const { values } = configurationOf(given);
  return parseValues(values?.text ?? "", values?.file ?? "");
}

Deno.test("configurationOf() without files is the built-in configuration", () => {
  const { config, values, mesh } = configurationOf({});
  assert.deepEqual([config.text, values?.text, mesh?.text], [BUILT_IN.config, BUILT_IN.values, BUILT_IN.mesh]);
});

Deno.test("configurationOf() merges given values over the built-in ones; null removes", () => {
  const values = valuesOf({ values: { text: "global: {meshID: m, proxy: {resources: null}}", file: "v" } });
  assert.equal(valueAt(values, "global", "meshID"), "m");
  assert.equal(valueAt(values, "global", "proxy", "image"), "proxyv2");
  assert.equal(valueAt(values, "global", "proxy", "resources"), undefined);
});

Deno.test("configurationOf() uses only the values of a given configuration", () => {
  const config = { text: "templates: {sidecar: x}", file: "c" };
  const values = valuesOf({ config, values: { text: "a: 1", file: "v" }, hub: "h", tag: "t", cni: true });
  assert.equal(JSON.stringify(values), '{"a":1,"global":{"hub":"h","tag":"t"},"pilot":{"cni":{"enabled":true}}}');
  assert.equal(configurationOf({ config }).values, undefined);
});

Deno.test("showConfiguration() reads back as the same configuration", () => {
  const shown = showConfiguration(configurationOf({ hub: "example.com/mesh" }));
  const again = configurationOf({ config: { text: shown, file: "shown.yaml" } });
  const data = parseYaml(shown);
  assert.ok(isMap(data) && isMap(data["data"]));
  assert.equal(data["data"]["config"], BUILT_IN.config);
  assert.equal(again.mesh?.text, BUILT_IN.mesh);
  assert.equal(valueAt(parseValues(again.values?.text ?? "", "v"), "global", "hub"), "example.com/mesh");
  assert.equal(showConfiguration(again), shown);
});

Deno.test("describeConfiguration() says where each part comes from", () => {
  const [config, values, mesh] = ["c.yaml", "v.yaml", "m.yaml"].map((file) => ({ file, text: "" }));
  const cluster = { server: "https://a:6443", revision: "canary" };
  const rows = [
    [{}, undefined, "built-in for Istio 1.31.1"],
    [{ values }, undefined, 'built-in for Istio 1.31.1, values from "v.yaml"'],
    [{ config, values, mesh }, undefined, '"c.yaml", values from "v.yaml", mesh configuration from "m.yaml"'],
    [{}, cluster, 'cluster https://a:6443, revision "canary"'],
    [{ config }, cluster, '"c.yaml", the rest from the cluster https://a:6443, revision "canary"'],
  ] as const;
  for (const [files, cluster, expected] of rows) {
    assert.equal(describeConfiguration({ files, cluster }), `Configuration: ${expected}`);
  }
});
