import assert from "node:assert/strict";
import { object } from "../../../test/support/kube/cluster.ts";
import { meshWebhooks } from "../../../test/support/kube/mesh_webhooks.ts";
import { isMutatingWebhookConfiguration, isPod, type Pod } from "../../kube/client/mod.ts";
import { injectorWebhooks } from "../inventory/injector_webhooks.ts";
import type { Risk } from "./advice.ts";
import type { LabelChange } from "./commands.ts";
import { riskOfLabels, riskOfRemoval } from "./enrolment.ts";

const WEBHOOKS = injectorWebhooks(meshWebhooks().filter(isMutatingWebhookConfiguration));

function pods(...containers: readonly string[]): readonly Pod[] {
  return containers.map((name, index) => object("v1", "Pod", `shop/${index}`, { spec: { containers: [{ name }] } }))
    .filter(isPod);
}

const ON = { "istio-injection": "enabled" };
const OFF = { "istio-injection": undefined };

const ROWS:
  readonly (readonly [string, Readonly<Record<string, string>>, LabelChange, readonly Pod[] | undefined, Risk])[] = [
    ["an empty namespace is enrolled", {}, ON, [], "enrols"],
    ["a namespace without proxies is enrolled", {}, ON, pods("app"), "enrols"],
    ["a namespace whose pods have proxies is in the mesh already", {}, ON, pods("istio-proxy", "app"), "none"],
    ["pods that are not known count as outside", {}, ON, undefined, "enrols"],
    ["pods with a proxy lose it", ON, OFF, pods("istio-proxy"), "takes-out"],
    ["pods without a proxy have none to lose", ON, OFF, pods("app"), "none"],
    ["pods that are not known may lose it", ON, OFF, undefined, "takes-out"],
    ["a label that nobody reads", ON, { team: "a" }, pods("istio-proxy"), "none"],
    ["a misspelt value serves nobody", { "istio-injection": "enable" }, OFF, pods("istio-proxy"), "none"],
  ];

for (const [name, labels, change, live, risk] of ROWS) {
  Deno.test(`labels of a namespace: ${name}`, () => {
    assert.equal(riskOfLabels({ name: "shop", labels, webhooks: WEBHOOKS, pods: live }, change), risk);
  });
}

Deno.test("labels of a namespace: without the webhooks the worst is taken", () => {
  const enrolment = { name: "shop", labels: ON, webhooks: undefined, pods: [] };
  assert.deepEqual([riskOfLabels(enrolment, ON), riskOfLabels(enrolment, OFF)], ["enrols", "takes-out"]);
});

Deno.test("removing a webhook is harmless if another webhook serves its pods", () => {
  const twin = WEBHOOKS.map((webhook) => ({ ...webhook, configuration: "second" }));
  const namespaces = [["shop", ON]] as const;
  const risk = (all: typeof WEBHOOKS) =>
    riskOfRemoval(all, ({ configuration }) => configuration !== "second", namespaces, pods("app"));
  assert.deepEqual([risk([...WEBHOOKS, ...twin]), risk(WEBHOOKS)], ["none", "takes-out"]);
});
