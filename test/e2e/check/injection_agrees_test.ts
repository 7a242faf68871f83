/** `check injection` predicts what a real API server with the webhook does, for generated pods. */
import assert from "node:assert/strict";
import { EXPLANATION } from "../../../src/check/injection/explanation_schema.ts";
import { explainInjection } from "../../../src/check/mod.ts";
import { connect } from "../../../src/kube/client/mod.ts";
import type { Value, ValueMap } from "../../../src/base/value.ts";
import { realWorld } from "../../../src/platform/mod.ts";
import { BUILT_IN } from "../../../src/inject/mod.ts";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { fc } from "../../support/properties.ts";
import { testWhen } from "../../support/test_when.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { until } from "../../support/until.ts";
import {
  apply,
  create,
  register,
  startWebhook,
  statusOf,
  triedStatus,
  type WebhookProcess,
} from "../support/webhook.ts";
import { createNamespace } from "../support/cluster/requests.ts";

const REVISIONS = ["default", "canary"];
const POLICIES = ["enabled", "disabled"];
const PODS = 120;

const INJECTION = [undefined, "enabled", "disabled", "enable"];
const CHOSEN = [undefined, "default", "canary", "nobody"];

/** Namespaces with all pairs of labels. */
const NAMESPACES = INJECTION.flatMap((injection, i) =>
  CHOSEN.map((revision, j) => ({
    name: `ns-${i}-${j}`,
    labels: { ...entry("istio-injection", injection), ...entry("istio.io/rev", revision) },
  }))
);

function entry(key: string, value: string | undefined): Record<string, string> {
  return value === undefined ? {} : { [key]: value };
}

const ASKED = fc.constantFrom(undefined, "true", "false", "", "maybe");
const POD = fc.record({
  namespace: fc.constantFrom(...NAMESPACES.map(({ name }) => name)),
  label: ASKED,
  annotation: ASKED,
  revision: fc.constantFrom(...CHOSEN),
  skip: fc.boolean(),
  hostNetwork: fc.boolean(),
}).map(({ namespace, label, annotation, revision, skip, hostNetwork }): ValueMap => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    namespace,
    labels: {
      ...entry("sidecar.istio.io/inject", label),
      ...entry("istio.io/rev", revision),
      ...(skip ? { skip: "yes" } : {}),
    },
    annotations: entry("sidecar.istio.io/inject", annotation),
  },
  spec: { containers: [{ name: "app", image: "example.com/app:1" }], ...(hostNetwork ? { hostNetwork } : {}) },
}));

testWhen(needsCluster(), "check injection predicts what the API server and the webhook do", async (t) => {
  const cluster = await startCluster();
  try {
    await apply(cluster, { apiVersion: "v1", kind: "Namespace", metadata: { name: "istio-system" } });
    for (const { name, labels } of NAMESPACES) {
      await createNamespace(cluster, name, labels);
    }
    for (const policy of POLICIES) await t.step(`policy ${policy}: ${PODS} pods`, () => compare(cluster, policy));
  } finally {
    await cluster.stop();
  }
});

async function compare(cluster: Cluster, policy: string): Promise<void> {
  const never = "neverInjectSelector: [{matchLabels: {skip: 'yes'}}]\n";
  const config = `${never}${
    BUILT_IN.config.replace(/^policy: .*$/m, `policy: ${policy}`).replace(/^neverInjectSelector:.*\n/m, "")
  }`;
  const webhooks: WebhookProcess[] = [];
  try {
    for (const revision of REVISIONS) {
      const webhook = await startWebhook({ revision, config, values: BUILT_IN.values, mesh: BUILT_IN.mesh });
      webhooks.push(webhook);
      await register(cluster, { revision, port: webhook.port, authority: webhook.authority });
      await configMaps(cluster, revision, config);
      await isCalled(cluster, revision);
    }
    const pods = fc.sample(POD, PODS).map((pod, index) => named(pod, `${policy}-${index}`));
    const said = await explanations(cluster, pods);
    const created = await create(cluster, pods);
    assert.deepEqual(said, created.map((pod) => statusOf(pod)?.["revision"] ?? "none"));
    assert(said.includes("default") && said.includes("canary") && said.includes("none"));
  } finally {
    for (const webhook of webhooks) assert.equal(await webhook.stop(), 0);
  }
}

function named(pod: ValueMap, name: string): ValueMap {
  return { ...pod, metadata: Object.assign({ name }, pod["metadata"]) };
}

/** The webhook's configuration as ConfigMaps of a control plane. */
async function configMaps(cluster: Cluster, revision: string, config: string): Promise<void> {
  const suffix = revision === "default" ? "" : `-${revision}`;
  const map = (name: string, data: Record<string, Value>): ValueMap => {
    return {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `${name}${suffix}`, namespace: "istio-system" },
      data,
    };
  };
  await apply(cluster, map("istio-sidecar-injector", { config, values: BUILT_IN.values }));
  await apply(cluster, map("istio", { mesh: BUILT_IN.mesh }));
}

/** The API server learns of configurations from a watch, a little later. */
async function isCalled(cluster: Cluster, revision: string): Promise<void> {
  const index = CHOSEN.indexOf(revision);
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "probe", namespace: `ns-0-${index}`, labels: { "sidecar.istio.io/inject": "true" } },
    spec: { containers: [{ name: "app", image: "example.com/app:1" }] },
  };
  await until(async () => {
    return (await triedStatus(cluster, pod))?.["revision"] === revision;
  }, `Never: the webhook of "${revision}" is called`);
}

/** The revision that injects, or `none`. */
async function explanations(cluster: Cluster, pods: readonly ValueMap[]): Promise<readonly string[]> {
  const text = JSON.stringify({ apiVersion: "v1", kind: "List", items: [...pods] });
  const inputs = [{ file: "pods.json", chunks: () => once(new TextEncoder().encode(text)) }];
  const api = await connect(realWorld(), { kubeconfig: cluster.kubeconfig });
  try {
    const question = { inputs, namespace: "default", choice: {}, configuration: {} };
    const found = await explainInjection(realWorld(), api, question);
    return found.map(({ by }) =>
      by === null ? "none" : /^istio-sidecar-injector-canary\//.test(by) ? "canary" : "default"
    );
  } finally {
    api.close();
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

testWhen(needsCluster(), "check injection explains a Deployment of a real cluster", async () => {
  const cluster = await startCluster();
  try {
    const { name } = NAMESPACES[0] ?? { name: "" };
    await apply(cluster, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    const labels = { app: "web" };
    await apply(cluster, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web", namespace: name },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "app", image: "example.com/app:1" }] } },
      },
    });
    const { code, stdout, stderr } = await new Deno.Command(MESH_COMMAND, {
      args: ["check", "injection", "deploy/web", "-n", name, "-o", "json", `--kubeconfig=${cluster.kubeconfig}`],
    }).output();
    const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    assert.deepEqual([code, err], [1, ""]);
    const { workload, injected, reason } = EXPLANATION.parse(JSON.parse(out ?? ""));
    assert.deepEqual({ workload, injected, reason }, {
      workload: "deployment.apps/web",
      injected: false,
      reason: "no-webhook",
    });
  } finally {
    await cluster.stop();
  }
});
