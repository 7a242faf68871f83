import assert from "node:assert/strict";
import { createAgain, labelNamespace, needOf, patch } from "./commands.ts";

Deno.test("arguments are quoted for a shell", () => {
  assert.equal(labelNamespace("shop", { b: "$(c)" }, {}).command, "kubectl label namespace shop 'b=$(c)'");
});

Deno.test("labels that are not there are not removed, and none is overwritten without need", () => {
  const change = { a: undefined, b: undefined, c: "1" };
  assert.equal(labelNamespace("shop", change, { a: "x" }).command, "kubectl label namespace shop a- c=1");
  assert.equal(labelNamespace("shop", { c: "1" }, { c: "0" }).command, "kubectl label namespace shop c=1 --overwrite");
});

Deno.test("each command names the rights that it needs", () => {
  assert.deepEqual(needOf("patch", { kind: "Deployment", namespace: "shop", name: "web" }), {
    verb: "patch",
    group: "apps",
    resource: "deployments",
    namespace: "shop",
    name: "web",
  });
  const webhook = { kind: "mutatingwebhookconfiguration", namespace: "", name: "x" };
  assert.deepEqual(patch(webhook, {}).needs, [
    { verb: "patch", group: "admissionregistration.k8s.io", resource: "mutatingwebhookconfigurations", name: "x" },
  ]);
  const pod = { kind: "pod", namespace: "shop", name: "web" };
  assert.deepEqual(createAgain(pod).needs.map(({ verb, name }) => [verb, name]), [
    ["get", "web"],
    ["delete", "web"],
    ["create", undefined],
  ]);
});
