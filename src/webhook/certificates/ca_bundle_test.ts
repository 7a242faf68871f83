import assert from "node:assert/strict";
import { MemoryApi } from "../../../test/support/kube/memory_api.ts";
import { isList, isMap } from "../../base/value.ts";
import { CONFIGURATIONS, keepBundle } from "./ca_bundle.ts";

const PATH = `${CONFIGURATIONS}/injector`;
const SERVICE = { name: "webhook", namespace: "mesh" };

function configuration(...services: (object | undefined)[]): object {
  const webhooks = services.map((service, index) => ({
    name: `w${index}.example.com`,
    clientConfig: service === undefined ? { url: "https://example.com" } : { service: { ...service, path: "/inject" } },
  }));
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "injector" },
    webhooks,
  };
}

function bundles(api: MemoryApi): unknown[] {
  const webhooks = api.at(PATH)?.["webhooks"];
  return isList(webhooks)
    ? webhooks.map((each) => isMap(each) && isMap(each["clientConfig"]) ? each["clientConfig"]["caBundle"] : null)
    : [];
}

Deno.test("keepBundle() writes the bundle to every webhook of the Service, and to no other", async () => {
  const api = new MemoryApi();
  api.put(PATH, configuration(SERVICE, { ...SERVICE, namespace: "other" }, SERVICE, undefined));
  assert.deepEqual(await keepBundle(api, "injector", SERVICE, "one"), { writer: undefined });
  assert.deepEqual(bundles(api), [btoa("one"), undefined, btoa("one"), undefined]);
  assert.equal(await keepBundle(api, "injector", SERVICE, "one"), undefined);
  assert.deepEqual(await keepBundle(api, "injector", SERVICE, "two"), { writer: undefined });
  assert.deepEqual(bundles(api), [btoa("two"), undefined, btoa("two"), undefined]);
  assert.equal(api.requests.filter((request) => request.startsWith("patch")).length, 2);
});

Deno.test("keepBundle() fails if the list of webhooks has changed", async () => {
  const api = new MemoryApi();
  api.put(PATH, configuration({ ...SERVICE, name: "other" }, SERVICE));
  api.failing = (request) => {
    if (request.startsWith("patch")) api.put(PATH, configuration(SERVICE));
    return undefined;
  };
  await assert.rejects(keepBundle(api, "injector", SERVICE, "one"), { status: 422 });
  assert.deepEqual(bundles(api), [undefined]);
});

Deno.test("keepBundle() fails if the configuration does not exist", async () => {
  await assert.rejects(keepBundle(new MemoryApi(), "injector", SERVICE, "one"), { message: /does not exist/ });
});
