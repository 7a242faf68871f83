import assert from "node:assert/strict";
import { clusterInventory } from "../../../../test/support/kube/cluster.ts";
import { meshWebhooks } from "../../../../test/support/kube/mesh_webhooks.ts";
import { toldText } from "../../../../test/support/kube/told.ts";
import { judge } from "../../judge.ts";
import { bundleIsUnmanaged } from "./gitops.ts";

/** The configuration whose caBundle this manager owns. */
async function found(manager: string, field = "f:caBundle") {
  const name = 'k:{"name":"namespace.sidecar-injector.istio.io"}';
  const fieldsV1 = { "f:webhooks": { [name]: { "f:clientConfig": { [field]: {} } } } };
  const objects = meshWebhooks().map((each) => {
    return { ...each, metadata: { ...each.metadata, managedFields: [{ manager, operation: "Apply", fieldsV1 }] } };
  });
  return await judge({ run: bundleIsUnmanaged }, clusterInventory({ objects }));
}

Deno.test("webhook-gitops: Argo CD that owns the caBundle is told with its ignoreDifferences", async () => {
  const { result, ...told } = await found("argocd-controller");
  assert.equal(result, "warning");
  assert.match(
    await toldText(told),
    /Argo CD sets its caBundle, .*\nfix: .* ignoreDifferences: \[.*clientConfig\.caBundle/,
  );
});

Deno.test("webhook-gitops: Flux that owns the caBundle is told", async () => {
  assert.match((await found("kustomize-controller")).message ?? "", /Flux sets its caBundle/);
});

Deno.test("webhook-gitops: other fields and other managers are ok", async () => {
  assert.equal((await found("argocd-controller", "f:service")).result, "ok");
  assert.equal((await found("pilot-discovery")).result, "ok");
});
