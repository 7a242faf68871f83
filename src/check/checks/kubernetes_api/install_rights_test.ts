import assert from "node:assert/strict";
import { ACCESS_REVIEWS, clusterInventory, type ClusterOptions } from "../../../../test/support/kube/cluster.ts";
import { findingFor } from "../../../../test/support/kube/finding.ts";
import { meshWebhooks } from "../../../../test/support/kube/mesh_webhooks.ts";
import { shownText } from "../../../../test/support/kube/shown.ts";
import type { Scope } from "../../inventory/mod.ts";

async function found(options: ClusterOptions, scope: Partial<Scope> = {}) {
  const finding = await findingFor("api-install-rights", clusterInventory(options, scope));
  return { result: finding.result, text: await shownText(finding), missingRight: finding.missingRight };
}

Deno.test("the rights to install Istio: all, some, and skipped if Istio is installed", async () => {
  assert.equal((await found({})).result, "ok");
  const some = await found({ denied: /^create (clusterroles|deployments)$/ });
  assert.equal(some.result, "warning");
  assert.match(
    some.text,
    /^you may not create 2 kinds of 14 that Istio's charts create: clusterroles\.rbac\.authorization\.k8s\.io, deployments\.apps\nnext: ask an administrator to install Istio\nor: .*\nkubectl auth can-i --list$/,
  );
  assert.match((await found({ denied: /^create services$/ })).text, /^you may not create 1 kind of 14 .*: services\n/);
  assert.equal((await found({ denied: /./, objects: meshWebhooks() })).result, "skipped");
  assert.equal((await found({ denied: /./ }, { namespace: "shop" })).result, "skipped");
});

Deno.test("the rights to install Istio are not known without an answer", async () => {
  const reviews = await found({ forbidden: new RegExp(`^${ACCESS_REVIEWS}$`) });
  assert.deepEqual([reviews.result, reviews.missingRight], ["unknown", "create on selfsubjectaccessreviews"]);
  const webhooks = await found({ forbidden: /mutatingwebhook/ });
  assert.deepEqual([webhooks.result, webhooks.missingRight], ["unknown", "list on mutatingwebhookconfigurations"]);
});

Deno.test("namespaced rights are asked for in the control plane's namespace", async () => {
  const asked: string[] = [];
  const inventory = clusterInventory({}, { istioNamespace: "mesh" });
  await findingFor("api-install-rights", {
    ...inventory,
    may: (need) => {
      asked.push(`${need.resource} ${need.namespace ?? "-"}`);
      return inventory.may(need);
    },
  });
  assert.deepEqual(asked.filter((each) => /^(roles|clusterroles|namespaces|configmaps) /.test(each)), [
    "namespaces -",
    "clusterroles -",
    "roles mesh",
    "configmaps mesh",
  ]);
});
