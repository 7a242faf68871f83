import assert from "node:assert/strict";
import type { KubeObject } from "../../kube/client/mod.ts";
import { BUILT_IN } from "../../inject/mod.ts";
import { clusterInventory, type ClusterOptions, object } from "../../../test/support/kube/cluster.ts";
import { meshObjects, meshWebhooks } from "../../../test/support/kube/mesh_webhooks.ts";
import { INJECTOR_CONFIGURATION_CHECKS } from "./injector_configuration.ts";
import { findingFor } from "../../../test/support/kube/finding.ts";
import { judge } from "../run.ts";

interface Texts {
  readonly config?: string;
  readonly values?: string;
  readonly mesh?: string;
}

/** The ConfigMaps of Istio, and webhooks that do not call this program's Service. */
function istio({ config = BUILT_IN.config, values = "{}", mesh = "" }: Texts = {}): KubeObject[] {
  return [
    object("v1", "ConfigMap", "istio-system/istio-sidecar-injector", { data: { config, values } }),
    object("v1", "ConfigMap", "istio-system/istio", { data: { mesh } }),
  ];
}

async function results(options: ClusterOptions) {
  const inventory = clusterInventory(options);
  const found = await Promise.all(
    INJECTOR_CONFIGURATION_CHECKS.map(async (check) => [check.id, await judge(check, inventory)]),
  );
  return Object.fromEntries(found.map(([id, finding]) => [id, Object(finding).result]));
}

const WELL = Object.fromEntries(INJECTOR_CONFIGURATION_CHECKS.map(({ id }) => [id, "ok"]));

/** The result of the policy check for an invalid configuration. In a whole run, this check is skipped. */
const NO_POLICY = { "injector-policy-enabled": "unknown" };

const CASES: readonly (readonly [string, Texts, Readonly<Record<string, string>>])[] = [
  ["all well", {}, {}],
  ["no YAML", { config: "templates: {a: b" }, {
    "injector-config-valid": "error",
    ...NO_POLICY,
  }],
  ["a field of another type", { config: "policy: 1\ntemplates: {sidecar: a}" }, {
    "injector-config-valid": "error",
    ...NO_POLICY,
  }],
  ["values that are none", { values: "[" }, {
    "injector-config-valid": "error",
    ...NO_POLICY,
  }],
  ["a template that does not compile", { config: "templates: {sidecar: '{{ if }}'}" }, {
    "injector-templates-compile": "error",
    ...NO_POLICY,
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

Deno.test("injector-configuration: this program's webhook has its own ConfigMap", async () => {
  const objects = [...meshWebhooks(), ...meshObjects().filter(({ kind }) => kind === "ConfigMap")];
  assert.deepEqual(await results({ objects }), WELL);
});

/** Returns the ConfigMaps that the findings name, by check. */
async function blamed(objects: readonly KubeObject[]): Promise<Record<string, readonly string[]>> {
  const inventory = clusterInventory({ objects });
  const found = await Promise.all(
    INJECTOR_CONFIGURATION_CHECKS.map(async (check) =>
      [check.id, (await judge(check, inventory)).objects ?? []] as const
    ),
  );
  return Object.fromEntries(found.filter(([, names]) => names.length > 0));
}

Deno.test("injector-configuration: problems name the right ConfigMap", async () => {
  const own = (data: Record<string, string>) =>
    object("v1", "ConfigMap", "istio-system/kubectl-mesh-webhook", { data });
  const config = BUILT_IN.config;
  const inIstios = "configmap/istio-system/istio-sidecar-injector";
  const inOurs = "configmap/istio-system/kubectl-mesh-webhook";
  assert.deepEqual(await blamed([...meshWebhooks(), ...istio({ values: "[", mesh: "defaultConfig: 3" })]), {
    "injector-config-valid": [inIstios],
    "mesh-config-valid": ["configmap/istio-system/istio"],
  });
  const wrong = own({ config, values: "[", mesh: "defaultConfig: 3" });
  assert.deepEqual(await blamed([...meshWebhooks(), ...istio(), wrong]), {
    "injector-config-valid": [inOurs],
    "mesh-config-valid": [inOurs],
  });
  assert.deepEqual(await blamed([...meshWebhooks(), ...istio({ config: "policy: disabled\ntemplates: {a: a}" })]), {
    "injector-policy-enabled": [inIstios],
  });
  assert.deepEqual(await blamed(meshWebhooks()), { "injector-config-present": [inOurs] });
});

const PRESENT = "injector-config-present";

Deno.test("injector-configuration: a ConfigMap without its key is not reported as absent", async () => {
  const [injector] = istio();
  const keyless = object("v1", "ConfigMap", "istio-system/istio", { data: { other: "" } });
  const found = await findingFor(
    PRESENT,
    clusterInventory({ objects: injector === undefined ? [] : [injector, keyless] }),
  );
  assert.equal(found?.result, "error");
  assert.match(found?.message ?? "", /key "mesh"/);
  assert.doesNotMatch(found?.message ?? "", /not installed/);
});

Deno.test("injector-configuration: a missing ConfigMap is named, a forbidden one is unknown", async () => {
  const missing = await findingFor(PRESENT, clusterInventory({ objects: [] }));
  assert.equal(missing?.result, "error");
  assert.match(
    missing?.message ?? "",
    /There is no ConfigMap "istio-sidecar-injector" in the namespace "istio-system"/,
  );
  const forbidden = await findingFor(PRESENT, clusterInventory({ objects: istio(), forbidden: /configmaps/ }));
  assert.deepEqual(forbidden, {
    result: "unknown",
    message: 'cannot tell: needs get on configmaps in the namespace "istio-system"',
    missingRight: 'get on configmaps in the namespace "istio-system"',
  });
});

Deno.test("injector-configuration: what cannot be read is unknown in every check, never ok", async () => {
  const unknown = Object.fromEntries(INJECTOR_CONFIGURATION_CHECKS.map(({ id }) => [id, "unknown"]));
  const objects = istio({ config: "templates: {sidecar: '{{ if }}'}" });
  assert.deepEqual(await results({ objects, forbidden: /configmaps/ }), unknown);
  assert.deepEqual(await results({ forbidden: /./ }), unknown);
});

Deno.test("injector-configuration: without webhooks a control plane is a guess: only its problems are reported", async () => {
  const unknown = Object.fromEntries(INJECTOR_CONFIGURATION_CHECKS.map(({ id }) => [id, "unknown"]));
  const forbidden = /mutatingwebhook/;
  assert.deepEqual(await results({ objects: istio(), forbidden }), unknown);
  assert.deepEqual(await results({ objects: istio({ values: "[" }), forbidden }), {
    ...unknown,
    "injector-config-valid": "error",
  });
});

Deno.test("injector-configuration: a configuration that is not YAML is reported with line and column", async () => {
  const objects = istio({ config: BUILT_IN.config.replace("policy: enabled", "policy: enabled: yes") });
  const { result, message = "" } = await findingFor("injector-config-valid", clusterInventory({ objects }));
  assert.equal(result, "error");
  assert.match(message, /\(key "config"\): document 1, line \d+, column \d+: Cannot read the YAML/);
});
