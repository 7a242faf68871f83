import assert from "node:assert/strict";
import { BUILT_IN, configurationOf, type Injector, newInjector, type Pod, podOwner } from "../../inject/mod.ts";
import { injectorWebhooks, namespaceLabels } from "../inventory/injector_webhooks.ts";
import { object } from "../../../test/support/kube/cluster.ts";
import { meshWebhooks } from "../../../test/support/kube/mesh_webhooks.ts";
import { type Question, verdictOf } from "./verdict.ts";

function injector(config: string = BUILT_IN.config): Injector {
  const source = { text: config, file: "config" };
  const values = { text: BUILT_IN.values, file: "values" };
  const configuration = configurationOf({ config: source, values });
  return newInjector({ ...configuration, byHand: false, env: () => undefined, now: () => new Date(0) });
}

const INJECTOR = injector();

function pod(metadata: Pod = {}, spec: Pod = {}): Pod {
  const containers = [{ name: "app", image: "example.com/app:1" }];
  return { metadata: { name: "web", namespace: "shop", ...metadata }, spec: { containers, ...spec } };
}

function ask(made: Pod, labels: Record<string, string>, more: Partial<Question> = {}) {
  return verdictOf({
    isMade: false,
    pod: made,
    owner: podOwner(made, "shop"),
    namespaceLabels: namespaceLabels("shop", labels),
    webhooks: injectorWebhooks(meshWebhooks()),
    injectorFor: () => ({ value: INJECTOR }),
    ...more,
  });
}

Deno.test("a labeled namespace: names the webhook and the deciding rule", () => {
  const verdict = ask(pod(), { "istio-injection": "enabled" });
  assert.equal(verdict.by, "istio-sidecar-injector/namespace.sidecar-injector.istio.io");
  assert.equal(verdict.reason, "policy-enabled");
  const called = verdict.rules.find(({ effect }) => effect === "called");
  assert.deepEqual([called?.field, called?.value], ['namespace.metadata.labels["istio-injection"]', "enabled"]);
  assert(verdict.rules.some(({ rule, effect }) => rule === "templates" && effect === "injects"));
});

Deno.test("a misspelled label: no webhook is called, each shows its requirement", () => {
  const verdict = ask(pod(), { "istio-injection": "enable" });
  assert.deepEqual([verdict.injected, verdict.by, verdict.reason], [false, null, "not-called"]);
  assert(verdict.rules.every(({ effect }) => effect === "not-called"));
  assert(verdict.rules.some(({ value, message }) => value === "enable" && message === "it wants In [enabled]"));
});

Deno.test("a called webhook that decides against injection does not inject", () => {
  const verdict = ask(pod({}, { hostNetwork: true }), { "istio-injection": "enabled" });
  assert.deepEqual([verdict.injected, verdict.by, verdict.reason, verdict.field], [
    false,
    null,
    "pod-host-network",
    "spec.hostNetwork",
  ]);
});

Deno.test("a pod that cannot be rendered is denied", () => {
  const wrong = pod({ annotations: { "sidecar.istio.io/proxyCPU": "a lot" } });
  const verdict = ask(wrong, { "istio-injection": "enabled" });
  assert.deepEqual([verdict.injected, verdict.isRefused, verdict.reason], [false, true, "invalid-annotation"]);
  assert.equal(verdict.rules.at(-1)?.effect, "refuses");
});

Deno.test("two injecting webhooks are both named", () => {
  const other = object("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "another", {
    webhooks: [{
      name: "sidecar-injector.istio.io",
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
    }],
  });
  const webhooks = injectorWebhooks([other, ...meshWebhooks()]);
  const verdict = ask(pod(), { "istio-injection": "enabled" }, { webhooks });
  assert.equal(verdict.by, "another/sidecar-injector.istio.io");
  assert.equal(verdict.injecting.length, 2);
});

Deno.test("with an unknown configuration the API server's rules remain", () => {
  const verdict = ask(pod(), { "istio-injection": "enabled" }, {
    injectorFor: () => ({ forbidden: "get on configmaps" }),
  });
  assert.equal(verdict.reason, "configuration-unknown");
  assert.match(verdict.message, /needs get on configmaps/);
});

Deno.test("without a cluster one called webhook is assumed", () => {
  const verdict = ask(pod({ labels: { "sidecar.istio.io/inject": "false" } }), {}, { webhooks: undefined });
  assert.deepEqual([verdict.injected, verdict.reason], [false, "label-inject-false"]);
  assert.equal(verdict.rules[0]?.effect, "unknown");
});

/** The verdict where the webhooks of the configuration have such conditions. */
function onCondition(made: Pod, ...expressions: readonly string[]) {
  const matchConditions = expressions.map((expression, index) => ({ name: `c${index}`, expression }));
  const webhooks = injectorWebhooks(meshWebhooks()).map((each) => ({ ...each, matchConditions }));
  return ask(made, { "istio-injection": "enabled" }, { webhooks });
}

Deno.test("a false condition excludes the pod, whatever the others are", () => {
  const never = "object.metadata.name != 'web'";
  const { injected, reason, field, message, rules } = onCondition(
    pod(),
    "authorizer == null",
    "object.a.b == 1",
    never,
  );
  assert.deepEqual([injected, reason, field], [false, "match-condition", 'matchConditions["c2"]']);
  assert.match(
    message,
    /^the condition "c2" of istio-sidecar-injector\/.* does not hold: object\.metadata\.name != 'web'$/,
  );
  const own = rules.filter(({ field }) => field.startsWith("matchConditions"));
  assert.deepEqual(own.map(({ effect, value }) => [effect, value]), [
    ["unknown", "authorizer == null"],
    ["unknown", "object.a.b == 1"],
    ["not-called", never],
  ]);
});

Deno.test("a true condition changes nothing", () => {
  const { injected, reason } = onCondition(pod(), "object.metadata.name == 'web'");
  assert.deepEqual([injected, reason], [true, "policy-enabled"]);
});

Deno.test("a failing condition denies the pod, or with Ignore skips the webhook", () => {
  const failing = "object.metadata.labels['a'] == 'b'";
  const refused = onCondition(pod(), failing);
  assert.deepEqual([refused.injected, refused.isRefused, refused.reason], [false, true, "match-condition-fails"]);
  assert.match(refused.message, /fails, and failurePolicy is Fail: No such key: labels/);
  const matchConditions = [{ name: "c", expression: failing }];
  const webhooks = injectorWebhooks(meshWebhooks({ failurePolicy: "Ignore" })).map((each) => ({
    ...each,
    matchConditions,
  }));
  const ignored = ask(pod(), { "istio-injection": "enabled" }, { webhooks });
  assert.deepEqual([ignored.injected, ignored.isRefused], [false, false]);
});

Deno.test("an unknown condition gives a guess with the expression; a pod that opts out is not injected", () => {
  const hidden = "object.spec.priority > 0";
  const guess = onCondition(pod(), hidden);
  assert.deepEqual([guess.injected, guess.reason], [true, "match-condition-unknown"]);
  assert.match(
    guess.message,
    /^cannot tell whether the webhook is called: .* it reads object\.spec\.priority, .*: object\.spec\.priority > 0$/,
  );
  const out = onCondition(pod({ annotations: { "sidecar.istio.io/inject": "false" } }), hidden);
  assert.deepEqual([out.injected, out.reason], [false, "annotation-inject-false"]);
});
