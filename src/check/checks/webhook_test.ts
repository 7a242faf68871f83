import assert from "node:assert/strict";
import { clusterInventory, type ClusterOptions, object } from "../../../test/support/kube/cluster.ts";
import { meshObjects, meshWebhooks } from "../../../test/support/kube/mesh_webhooks.ts";
import { webhookEndpoints } from "../../../test/support/kube/webhook_check.ts";
import { shownText } from "../../../test/support/kube/shown.ts";
import type { KubeObject } from "../../kube/client/mod.ts";
import type { Value } from "../../base/value.ts";
import type { Finding } from "../check.ts";
import type { Scope } from "../inventory/mod.ts";
import { findingFor } from "../../../test/support/kube/finding.ts";

async function finding(id: string, options: ClusterOptions, scope: Partial<Scope> = {}): Promise<Finding> {
  return await findingFor(id, clusterInventory(options, scope));
}

function namespace(name: string, labels: Record<string, Value> = {}): KubeObject {
  return object("v1", "Namespace", name, { metadata: { labels: { "kubernetes.io/metadata.name": name, ...labels } } });
}

function pod(name: string, labels: Record<string, Value> = {}): KubeObject {
  return object("v1", "Pod", name, { metadata: { labels } });
}

const SHOP = namespace("shop", { "istio-injection": "enabled" });
const CANARY = meshWebhooks({ revision: "canary" });

Deno.test("without an injection webhook other checks are skipped", async () => {
  assert.equal((await finding("webhook-exists", {})).result, "error");
  const other = object("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "policy", {
    webhooks: [{ name: "policy.example.com", rules: [{ apiGroups: [""], operations: ["*"], resources: ["pods"] }] }],
  });
  assert.equal((await finding("webhook-exists", { objects: [other] })).result, "error");
  const found: Finding = { result: "ok", message: "istio-sidecar-injector" };
  assert.deepEqual(await finding("webhook-exists", { objects: [other, ...meshWebhooks()] }), found);
  assert.deepEqual(await finding("webhook-exists", { forbidden: /webhook/ }), {
    result: "unknown",
    message: "cannot tell: needs list on mutatingwebhookconfigurations",
    missingRight: "list on mutatingwebhookconfigurations",
  });
});

Deno.test("a revision of the scope has its own webhooks", async () => {
  const objects = [...meshWebhooks(), ...meshWebhooks({ revision: "canary", tags: ["prod"] })];
  const wanted = async (revision: string) => (await finding("webhook-exists", { objects }, { revision })).message;
  assert.equal(await wanted("canary"), "istio-sidecar-injector-canary, istio-revision-tag-prod");
  assert.match(await wanted("stable") ?? "", /no MutatingWebhookConfiguration of the revision "stable"/);
});

Deno.test("deactivated configurations do not count", async () => {
  const [first] = meshWebhooks();
  assert(first !== undefined);
  const never = { matchLabels: { "istio.io/deactivated": "never-match" } };
  const webhooks = [{
    name: "namespace.sidecar-injector.istio.io",
    rules: [{ apiGroups: [""], operations: ["CREATE"], resources: ["pods"] }],
    clientConfig: { service: { name: "istiod", namespace: "istio-system" } },
    namespaceSelector: never,
    objectSelector: never,
  }];
  const { result, message } = await finding("webhook-exists", { objects: [{ ...first, webhooks }] });
  assert.equal(result, "error");
  assert.match(message ?? "", /deactivated/);
});

/** Returns a second configuration for the same namespaces, such as a leftover of an old installation. */
function leftBehind(): KubeObject {
  const [first] = meshWebhooks();
  assert(first !== undefined);
  return { ...first, metadata: { ...first.metadata, name: "istio-sidecar-injector-old" } };
}

Deno.test("overlapping configurations are reported with the namespace", async () => {
  assert.equal((await finding("webhook-overlap", { objects: [...meshWebhooks(), ...CANARY, SHOP] })).result, "ok");
  const objects = [...meshWebhooks(), leftBehind(), SHOP, namespace("plain")];
  const { result, message, objects: shown } = await finding("webhook-overlap", { objects });
  assert.equal(result, "error");
  assert.match(message ?? "", /^namespace\/shop: pods without labels match istio-sidecar-injector \(.*\) and .*-old/);
  // In the namespace "plain", only pods with the label match.
  assert.match(message ?? "", /namespace\/plain: pods with sidecar.istio.io\/inject=true match/);
  assert.deepEqual(shown, ["namespace/shop", "namespace/plain"]);
});

Deno.test("an overlap is an error with live pods, else a warning", async () => {
  const objects = [...meshWebhooks(), leftBehind(), namespace("plain")];
  assert.equal((await finding("webhook-overlap", { objects })).result, "warning");
  const asking = pod("plain/a", { app: "a", "sidecar.istio.io/inject": "true" });
  assert.equal((await finding("webhook-overlap", { objects: [...objects, asking] })).result, "error");
});

Deno.test("tags must point to installed revisions and be unique", async () => {
  const [canary, tag] = meshWebhooks({ revision: "canary", tags: ["prod"] });
  assert(canary !== undefined && tag !== undefined);
  assert.equal((await finding("webhook-revision-tags", { objects: [canary, tag] })).result, "ok");
  const lost = await finding("webhook-revision-tags", { objects: [tag] });
  assert.match(lost.message ?? "", /the tag "prod" points to "canary", which is not installed/);
  const twin = { ...tag, metadata: { ...tag.metadata, name: "istio-revision-tag-prod-2" } };
  const twice = await finding("webhook-revision-tags", { objects: [canary, tag, twin] });
  assert.match(twice.message ?? "", /the configuration "istio-revision-tag-prod-2" has the same tag "prod"/);
});

Deno.test("the failure policy is reported with the affected pods", async () => {
  const pods = ["shop/a", "shop/b", "other/c", "plain/d"].map((name) => pod(name));
  const cluster = [SHOP, namespace("other", { "istio-injection": "enabled" }), namespace("plain"), ...pods];
  const failing = await finding("webhook-failure-policy", { objects: [...meshWebhooks(), ...cluster] });
  assert.deepEqual(failing, {
    result: "ok",
    message: "3 pods in 2 namespaces cannot be recreated during an outage",
  });
  const ignoring = [...meshWebhooks({ failurePolicy: "Ignore" }), ...cluster];
  const { result, message } = await finding("webhook-failure-policy", { objects: ignoring });
  assert.equal(result, "warning");
  assert.match(message ?? "", /3 pods in 2 namespaces would start without a sidecar/);
  const inOne = await finding("webhook-failure-policy", { objects: ignoring }, { namespace: "shop" });
  assert.match(inOne.message ?? "", /2 pods in 1 namespace would start without a sidecar/);
  assert.deepEqual(await finding("webhook-failure-policy", { objects: ignoring, forbidden: /pods/ }), {
    result: "unknown",
    message: "cannot tell: needs list on pods",
    missingRight: "list on pods",
  });
});

Deno.test("a webhook that is called for its own pods is an error", async () => {
  const service = object("v1", "Service", "istio-system/kubectl-mesh-webhook", { spec: { selector: { app: "mesh" } } });
  const enabled = { "istio-injection": "enabled" };
  const [configuration] = meshWebhooks();
  assert(configuration !== undefined);
  // Removes the exclusion of the webhook's own namespace, which `webhook manifests` writes.
  const open = JSON.parse(JSON.stringify(configuration).replaceAll('"istio-system"]', '"nowhere"]'));
  const own = async (labels: Record<string, Value>, ...pods: KubeObject[]) => {
    const objects = [open, service, namespace("istio-system", labels), ...pods];
    return (await finding("webhook-own-namespace", { objects })).result;
  };
  assert.equal(await own({}), "ok");
  assert.equal(await own(enabled), "error");
  assert.equal(await own(enabled, pod("istio-system/x", { app: "mesh", "sidecar.istio.io/inject": "false" })), "ok");
  const excluded = [configuration, service, namespace("istio-system", enabled)];
  assert.equal((await finding("webhook-own-namespace", { objects: excluded })).result, "ok");
});

Deno.test("a clock skew of more than a minute is a warning", async () => {
  const now = new Date("2026-11-22T12:00:00Z");
  const skew = async (date: string | undefined) => {
    const raw = { "/version": { gitVersion: "v1.34.1" } };
    const options = { raw, ...(date === undefined ? {} : { date }) };
    return await findingFor("clock-skew", clusterInventory(options, {}, now));
  };
  assert.deepEqual(await skew("Sun, 22 Nov 2026 12:00:59 GMT"), { result: "ok" });
  assert.deepEqual(await skew("Sun, 22 Nov 2026 11:59:00 GMT"), { result: "ok" });
  assert.match((await skew("Sun, 22 Nov 2026 12:10:00 GMT"))?.message ?? "", /600 s ahead of this machine/);
  assert.match((await skew("Sun, 22 Nov 2026 11:50:00 GMT"))?.message ?? "", /599 s behind this machine/);
  assert.equal((await skew(undefined))?.result, "unknown");
});

const validator = (failurePolicy: string) =>
  object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "istio-validator-istio-system", {
    webhooks: [{
      name: "rev.validation.istio.io",
      failurePolicy,
      rules: [{ operations: ["CREATE"] }],
      clientConfig: { service: { namespace: "istio-system", name: "kubectl-mesh-webhook" } },
    }],
  });

Deno.test("webhook-validation: Istio's validating webhook without pods is an error with Fail", async () => {
  const result = async (...objects: readonly KubeObject[]) => (await finding("webhook-validation", { objects })).result;
  assert.equal(await result(validator("Fail")), "error");
  assert.equal(await result(validator("Ignore")), "ok");
  assert.equal(await result(validator("Fail"), webhookEndpoints(["ready"])), "ok");
  assert.equal(await result(validator("Fail"), webhookEndpoints(["waiting"])), "error");
  assert.equal(await result(), "skipped");
});

Deno.test("webhook-validation: the Deployment behind its Service says why, before the configuration counts as a leftover", async () => {
  const stopped = meshObjects({ flags: [] }).filter(({ kind }) => ["Service", "Deployment"].includes(kind))
    .map((each) => each.kind === "Service" ? each : { ...each, spec: { ...Object(each["spec"]), replicas: 0 } });
  const shown = async (...objects: readonly KubeObject[]) =>
    await shownText(await finding("webhook-validation", { objects: [validator("Fail"), ...objects] }));
  const [, ...lines] = (await shown(...stopped)).split("\n");
  assert.deepEqual(lines, [
    "fix: scale it to one replica:",
    "kubectl scale deployment/kubectl-mesh-webhook -n istio-system --replicas=1",
    "or: delete the configuration if Istio was uninstalled:",
    "kubectl delete validatingwebhookconfiguration/istio-validator-istio-system",
  ]);
  assert.match(
    await shown(...stopped),
    /has no ready pod \(its Deployment "kubectl-mesh-webhook" has 0 replicas\), and failurePolicy is Fail, so /,
  );
  const services = stopped.filter(({ kind }) => kind === "Service");
  assert.match(await shown(...services), /is denied\nfix: start its pods again\nor: see its pods:/);
});
