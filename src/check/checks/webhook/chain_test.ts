import assert from "node:assert/strict";
import { clusterInventory, type ClusterOptions, object } from "../../../../test/support/kube/cluster.ts";
import { meshObjects, meshWebhooks } from "../../../../test/support/kube/mesh_webhooks.ts";
import type { KubeObject } from "../../../kube/client/mod.ts";
import type { Value } from "../../../base/value.ts";
import { judge } from "../../run.ts";
import { chainKeepsSidecar } from "./chain.ts";

const SHOP = object("v1", "Namespace", "shop", { metadata: { labels: { "istio-injection": "enabled" } } });
const MESH = [...meshWebhooks(), ...meshObjects().filter(({ kind }) => kind === "ConfigMap"), SHOP];

function other(name: string, more: Record<string, Value> = {}): KubeObject {
  const rules = [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }];
  return object("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", name, {
    webhooks: [{ name: "agent.example.com", rules, ...more }],
  });
}

/** Returns the finding if webhooks change the text of a pod in this way, and the pods that were sent. */
async function found(change: (text: string) => string, ...objects: readonly KubeObject[]) {
  const sent: object[] = [];
  const dryRun: ClusterOptions["dryRun"] = (_namespace, pod) => {
    sent.push(pod);
    return JSON.parse(change(JSON.stringify(pod)));
  };
  const finding = await judge({ run: chainKeepsSidecar }, clusterInventory({ objects: [...MESH, ...objects], dryRun }));
  return { ...finding, sent };
}

const dropPolicy = (text: string) => text.replace('"restartPolicy":"Always",', "");

Deno.test("webhook-chain: without other webhooks no pod is sent", async () => {
  const { result, sent } = await found(dropPolicy);
  assert.deepEqual([result, sent.length], ["ok", 0]);
});

Deno.test("webhook-chain: a webhook that does not change the sidecar is ok", async () => {
  const { result, sent } = await found((text) => text, other("vault"));
  assert.deepEqual([result, sent.length], ["ok", 1]);
  assert.match(JSON.stringify(sent), /"sidecar.istio.io\/inject":"false".*"restartPolicy":"Always"/);
});

const CHANGES: readonly (readonly [lost: string, change: (text: string) => string])[] = [
  ["restartPolicy", dropPolicy],
  ["securityContext.runAsUser", (text) => text.replace('"runAsUser":1337', '"runAsUser":65532')],
  ["resources.limits.memory", (text) => text.replace('"memory":"80Mi"', '"memory":"1Gi"')],
  ["volumes", (text) => text.replace(/"volumes":\[[^\]]*\]/, '"volumes":[]')],
  ['the container "istio-proxy"', (text) => text.replaceAll("istio-proxy", "moved")],
];

for (const [lost, change] of CHANGES) {
  Deno.test(`webhook-chain: ${lost} is missed, and the webhook is named`, async () => {
    const { result, message = "", objects } = await found(change, other("vault"));
    assert.equal(result, "error");
    assert(
      message.includes(`"agent.example.com" removes or changes in injected pods of the namespace "shop": ${lost}`),
      message,
    );
    assert.deepEqual(objects, ["mutatingwebhookconfiguration/vault"]);
  });
}

Deno.test("webhook-chain: the fix adds the exclusion of injected pods to the webhook's selector", async () => {
  const own = { key: "team", operator: "Exists" };
  const { fixes = [] } = await found(dropPolicy, other("vault", { objectSelector: { matchExpressions: [own] } }));
  // The pod of the dry run does not have the label `team`, so this webhook is not called.
  assert.deepEqual(fixes, []);
  const not = { ...own, operator: "DoesNotExist" };
  const shown = await found(dropPolicy, other("vault", { objectSelector: { matchExpressions: [not] } }));
  const [advice] = shown.fixes?.[0]?.alternatives ?? [];
  assert.equal(advice?.risk, "loosens");
  const added = { key: "security.istio.io/tlsMode", operator: "DoesNotExist" };
  assert(advice?.steps[0]?.command.includes(JSON.stringify({ matchExpressions: [not, added] })));
  const two = await found(dropPolicy, other("vault"), other("zeta"));
  assert.deepEqual(two.fixes?.[0]?.alternatives.flatMap(({ steps }) => steps), []);
});

Deno.test("webhook-chain: a webhook before the injector sees no sidecar, unless it is called again", async () => {
  assert.equal((await found(dropPolicy, other("a-first"))).result, "ok");
  assert.equal((await found(dropPolicy, other("a-first", { reinvocationPolicy: "IfNeeded" }))).result, "error");
});

Deno.test("webhook-chain: a webhook for other namespaces is not to blame", async () => {
  const elsewhere = { namespaceSelector: { matchLabels: { vault: "yes" } } };
  assert.equal((await found(dropPolicy, other("vault", elsewhere))).result, "ok");
});
