import assert from "node:assert/strict";
import type { KubeObject } from "../../core/kube/client/mod.ts";
import { BUILT_IN } from "../../inject/mod.ts";
import { clusterFacts, type ClusterOptions, object } from "../../../test/support/cluster.ts";
import { meshObjects, meshWebhooks } from "../../../test/support/mesh_webhooks.ts";
import { INJECTOR_CONFIGURATION_CHECKS } from "./injector_configuration.ts";

interface Texts {
  readonly config?: string;
  readonly values?: string;
  readonly mesh?: string;
}

/** ConfigMaps as Istio has them, and webhooks that do not call a service of ours. */
function istio({ config = BUILT_IN.config, values = "{}", mesh = "" }: Texts = {}): KubeObject[] {
  return [
    object("v1", "ConfigMap", "istio-system/istio-sidecar-injector", { data: { config, values } }),
    object("v1", "ConfigMap", "istio-system/istio", { data: { mesh } }),
  ];
}

async function results(options: ClusterOptions) {
  const facts = clusterFacts(options);
  const found = await Promise.all(
    INJECTOR_CONFIGURATION_CHECKS.map(async (check) => [check.id, await check.run(facts)]),
  );
  return Object.fromEntries(found.map(([id, finding]) => [id, Object(finding).result]));
}

const WELL = Object.fromEntries(INJECTOR_CONFIGURATION_CHECKS.map(({ id }) => [id, "ok"]));

const CASES: readonly (readonly [string, Texts, Readonly<Record<string, string>>])[] = [
  ["all well", {}, {}],
  ["no YAML", { config: "templates: {a: b" }, { "injector-config-valid": "error" }],
  ["a field of another type", { config: "policy: 1\ntemplates: {sidecar: a}" }, { "injector-config-valid": "error" }],
  ["values that are none", { values: "[" }, { "injector-config-valid": "error" }],
  ["a template that does not compile", { config: "templates: {sidecar: '{{ if }}'}" }, {
    "injector-templates-compile": "error",
  }],
  ["a mesh configuration of another type", { mesh: "defaultConfig: 3" }, { "mesh-config-valid": "error" }],
  ["the policy disabled", { config: "policy: disabled\ntemplates: {sidecar: 'spec: {}'}" }, {
    "injector-policy-enabled": "warning",
  }],
  ["a policy that is none", { config: "policy: often\ntemplates: {sidecar: 'spec: {}'}" }, {
    "injector-policy-enabled": "error",
  }],
];

for (const [name, texts, expected] of CASES) {
  Deno.test(`injector-configuration: ${name}`, async () => {
    assert.deepEqual(await results({ objects: istio(texts) }), { ...WELL, ...expected });
  });
}

Deno.test("injector-configuration: the ConfigMap of a webhook of ours is its configuration", async () => {
  const objects = [...meshWebhooks(), ...meshObjects().filter(({ kind }) => kind === "ConfigMap")];
  assert.deepEqual(await results({ objects }), WELL);
});

Deno.test("injector-configuration: what is not there is named, what may not be read is not told", async () => {
  const [check] = INJECTOR_CONFIGURATION_CHECKS;
  const missing = await check?.run(clusterFacts({ objects: [] }));
  assert.equal(missing?.result, "error");
  assert.match(
    missing?.message ?? "",
    /There is no ConfigMap "istio-sidecar-injector" in the namespace "istio-system"/,
  );
  const forbidden = await check?.run(clusterFacts({ objects: istio(), forbidden: /configmaps/ }));
  assert.deepEqual(forbidden, {
    result: "unknown",
    message: 'cannot tell: needs get on configmaps in the namespace "istio-system"',
  });
});
