import assert from "node:assert/strict";
import type { Pod } from "../../../../../src/kube/client/mod.ts";
import { argumentsOf, environmentOf, expanded, fieldText } from "./environment.ts";

const POD: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "shop", labels: { "a/b": "x", app: 'q"uote' } },
  spec: { serviceAccountName: "seller" },
  status: { podIP: "fd96::1" },
};

Deno.test("expanded() puts values in, keeps unknown names, and takes two dollars for one", () => {
  assert.equal(expanded("$(A).svc $(B) $$(A) $A", { A: "shop" }), "shop.svc $(B) $(A) $A");
});

Deno.test("fieldText() reads fields, one label, and all labels as the downward API writes them", () => {
  assert.equal(fieldText(POD, "spec.serviceAccountName"), "seller");
  assert.equal(fieldText(POD, "metadata.labels['a/b']"), "x");
  assert.equal(fieldText(POD, "metadata.labels"), 'a/b="x"\napp="q\\"uote"');
  assert.equal(fieldText(POD, "metadata.annotations"), "");
});

Deno.test("environmentOf() knows fields, limits and earlier variables", () => {
  const resource = (resource: string, divisor: string) => ({ resourceFieldRef: { resource, divisor } });
  const container = {
    resources: { limits: { cpu: "1500m", memory: "1Gi" } },
    env: [
      { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
      { name: "CPU", valueFrom: resource("limits.cpu", "1") },
      { name: "MEMORY", valueFrom: resource("limits.memory", "1Mi") },
      { name: "URL", value: "http://[$(IP)]:80" },
    ],
  };
  const env = environmentOf(POD, container);
  assert.deepEqual(env, { IP: "fd96::1", CPU: "2", MEMORY: "1024", URL: "http://[fd96::1]:80" });
  assert.deepEqual(argumentsOf({ args: ["--ip=$(IP)"] }, ["agent"], env), ["agent", "--ip=fd96::1"]);
});
