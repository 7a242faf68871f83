import assert from "node:assert/strict";
import { object } from "../../../../test/support/kube/cluster.ts";
import { meshWebhooks } from "../../../../test/support/kube/mesh_webhooks.ts";
import { webhookEndpoints, webhookFinding, webhookService } from "../../../../test/support/kube/webhook_check.ts";
import { isMap } from "../../../base/value.ts";

const NAME = "istio-system/kubectl-mesh-webhook";

Deno.test("the Service and its port must exist", async () => {
  const service = (...objects: ReturnType<typeof webhookService>[]) =>
    webhookFinding("webhook-service", { objects: [...meshWebhooks(), ...objects] });
  assert.deepEqual(await service(webhookService()), { result: "ok", message: NAME });
  assert.match((await service()).message ?? "", /the Service "istio-system\/kubectl-mesh-webhook" does not exist/);
  assert.match((await service(webhookService(8443))).message ?? "", /has no port 443: it has 8443/);
});

Deno.test("the Service must have ready pods with its port", async () => {
  const endpoints = (...objects: ReturnType<typeof webhookService>[]) =>
    webhookFinding("webhook-endpoints", { objects: [...meshWebhooks(), webhookService(), ...objects] });
  assert.deepEqual(await endpoints(webhookEndpoints(["ready", "waiting"])), { result: "ok", message: "1 ready" });
  const waiting = await endpoints(webhookEndpoints(["waiting", "waiting"]));
  assert.deepEqual([waiting.result, waiting.objects], ["error", [`service/${NAME}`]]);
  assert.match(waiting.message ?? "", /has no ready pod: 2 not ready/);
  assert.match((await endpoints()).message ?? "", /has no pods/);
  assert.match(
    (await endpoints(webhookEndpoints(["ready"], "grpc"))).message ?? "",
    /do not have the target port of port 443$/m,
  );
});

Deno.test("clusters without EndpointSlices use Endpoints", async () => {
  const subsets = [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ name: "https", port: 15017 }] }];
  const endpoints = object("v1", "Endpoints", NAME, { subsets });
  const objects = [...meshWebhooks(), webhookService(), endpoints];
  assert.deepEqual(await webhookFinding("webhook-endpoints", { objects }), { result: "ok", message: "1 ready" });
});

Deno.test("forbidden reads are unknown", async () => {
  const forbidden = { objects: meshWebhooks(), forbidden: /services|endpoint/ };
  const needs = (what: string) => ({
    result: "unknown",
    message: `cannot tell: needs ${what} in the namespace "istio-system"`,
    missingRight: `${what} in the namespace "istio-system"`,
  });
  assert.deepEqual(await webhookFinding("webhook-service", forbidden), needs("get on services"));
  assert.deepEqual(await webhookFinding("webhook-endpoints", forbidden), needs("list on endpointslices"));
});

Deno.test("a webhook with a URL has no Service", async () => {
  const [configuration] = meshWebhooks();
  assert(configuration !== undefined && Array.isArray(configuration["webhooks"]));
  const clientConfig = { url: "https://127.0.0.1:15017/inject" };
  const webhooks = configuration["webhooks"].filter(isMap).map((webhook) => ({ ...webhook, clientConfig }));
  const objects = [{ ...configuration, webhooks }];
  assert.equal((await webhookFinding("webhook-service", { objects })).result, "skipped");
  assert.equal((await webhookFinding("webhook-ca-bundle", { objects })).result, "ok");
});
