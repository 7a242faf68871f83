/** All combinations of labels on namespaces and pods: which pods are injected, by which revision. */
import assert from "node:assert/strict";
import type { Value, ValueMap } from "../../../src/base/value.ts";
import { BUILT_IN } from "../../../src/inject/mod.ts";
import { testWhen } from "../../support/test_when.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { until } from "../../support/until.ts";
import { create, register, startWebhook, statusOf, type WebhookProcess } from "../support/webhook.ts";
import { createNamespace, tried } from "../support/cluster/requests.ts";

const REVISIONS = ["default", "canary"];
const POLICIES = ["enabled", "disabled"];

/** Labels of namespaces by name. */
const NAMESPACES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  plain: {},
  enabled: { "istio-injection": "enabled" },
  disabled: { "istio-injection": "disabled" },
  "rev-default": { "istio.io/rev": "default" },
  "rev-canary": { "istio.io/rev": "canary" },
  "rev-nobody": { "istio.io/rev": "nobody" },
  both: { "istio-injection": "enabled", "istio.io/rev": "canary" },
};

type Asked = "none" | "true" | "false";
const ASKED: readonly Asked[] = ["none", "true", "false"];
const POD_REVISIONS = ["none", "default", "canary"];

interface Row {
  readonly namespace: string;
  readonly label: Asked;
  readonly annotation: Asked;
  readonly revision: string;
}

const ROWS: readonly Row[] = Object.keys(NAMESPACES).flatMap((namespace) =>
  ASKED.flatMap((label) =>
    ASKED.flatMap((annotation) => POD_REVISIONS.map((revision) => ({ namespace, label, annotation, revision })))
  )
);

/** The revision that is called (Istio, "Installing the Sidecar"; "Canary Upgrades"). The namespace's label wins. */
function called({ namespace, label, revision }: Row): string | undefined {
  if (label === "false") return undefined;
  const labels = NAMESPACES[namespace] ?? {};
  if (labels["istio-injection"] !== undefined) return labels["istio-injection"] === "enabled" ? "default" : undefined;
  const known = (name: string) => REVISIONS.includes(name) ? name : undefined;
  if (labels["istio.io/rev"] !== undefined) return known(labels["istio.io/rev"]);
  if (revision !== "none") return known(revision);
  return label === "true" ? "default" : undefined;
}

/** The revision that injects, or `none`. The label wins over the annotation, both over the policy. */
function injectedBy(row: Row, policy: string): string {
  const by = called(row);
  const asked = row.label === "none" ? row.annotation : row.label;
  const wanted = asked === "none" ? policy === "enabled" : asked === "true";
  return by !== undefined && wanted ? by : "none";
}

testWhen(needsCluster(), "pods are injected as the decision table says", async (t) => {
  const cluster = await startCluster();
  try {
    for (const [name, labels] of Object.entries(NAMESPACES)) await createNamespace(cluster, name, labels);
    for (const policy of POLICIES) {
      await t.step(`policy ${policy}: ${ROWS.length} pods`, () => check(cluster, policy));
    }
  } finally {
    await cluster.stop();
  }
});

async function check(cluster: Cluster, policy: string): Promise<void> {
  const config = BUILT_IN.config.replace(/^policy: .*$/m, `policy: ${policy}`);
  const webhooks: WebhookProcess[] = [];
  try {
    for (const revision of REVISIONS) {
      const webhook = await startWebhook({ revision, config, values: BUILT_IN.values, mesh: BUILT_IN.mesh });
      webhooks.push(webhook);
      await register(cluster, { revision, port: webhook.port, authority: webhook.authority });
    }
    await webhooksAreCalled(cluster);
    const created = await create(cluster, ROWS.map((row) => podOf(row, policy)));
    const found = created.map((pod, index) => outcome(ROWS[index], revisionOf(pod)));
    assert.deepEqual(found, ROWS.map((row) => outcome(row, injectedBy(row, policy))));
  } finally {
    for (const webhook of webhooks) assert.equal(await webhook.stop(), 0);
  }
}

/** Waits until the API server calls the webhooks: it learns of configurations from a watch, a little later. */
async function webhooksAreCalled(cluster: Cluster): Promise<void> {
  for (const revision of REVISIONS) {
    const row: Row = { namespace: `rev-${revision}`, label: "true", annotation: "none", revision: "none" };
    await until(async () => {
      const { made } = await tried(cluster, podOf(row, "probe"));
      return made !== undefined && revisionOf(made) === revision;
    }, `Never: the webhook of "${revision}" is called`);
  }
}

function podOf({ namespace, label, annotation, revision }: Row, policy: string): ValueMap {
  const labels = { ...entry("sidecar.istio.io/inject", label), ...entry("istio.io/rev", revision) };
  const annotations = entry("sidecar.istio.io/inject", annotation);
  const name = `${policy}-${label}-${annotation}-${revision}`;
  const containers = [{ name: "app", image: "example.com/app:1" }];
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace, labels, annotations }, spec: { containers } };
}

function entry(key: string, value: string): Record<string, string> {
  return value === "none" ? {} : { [key]: value };
}

function revisionOf(pod: Value): Value {
  return statusOf(pod)?.["revision"] ?? "none";
}

function outcome(row: Row | undefined, by: Value): string {
  return `${JSON.stringify(row)}: ${by}`;
}
