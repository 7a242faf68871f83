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
    webhooks: { value: injectorWebhooks(meshWebhooks()) },
    injectorFor: () => ({ value: INJECTOR }),
    nodes: undefined,
    isNamespaceKnown: true,
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
  assert.deepEqual([verdict.verdict, verdict.by, verdict.reason], ["not-injected", null, "not-called"]);
  assert(verdict.rules.every(({ effect }) => effect === "not-called"));
  assert(verdict.rules.some(({ value, message }) => value === "enable" && message === "requires In [enabled]"));
});

Deno.test("a called webhook that decides against injection does not inject", () => {
  const verdict = ask(pod({}, { hostNetwork: true }), { "istio-injection": "enabled" });
  assert.deepEqual([verdict.verdict, verdict.by, verdict.reason, verdict.field], [
    "not-injected",
    null,
    "pod-host-network",
    "spec.hostNetwork",
  ]);
});

Deno.test("a pod that cannot be rendered is denied", () => {
  const wrong = pod({ annotations: { "sidecar.istio.io/proxyCPU": "a lot" } });
  const verdict = ask(wrong, { "istio-injection": "enabled" });
  assert.deepEqual([verdict.verdict, verdict.reason], ["refused", "invalid-annotation"]);
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
  const verdict = ask(pod(), { "istio-injection": "enabled" }, { webhooks: { value: webhooks } });
  assert.equal(verdict.by, "another/sidecar-injector.istio.io");
  assert.equal(verdict.injecting.length, 2);
});

Deno.test("with an unknown configuration the API server's rules remain", () => {
  const verdict = ask(pod(), { "istio-injection": "enabled" }, {
    injectorFor: () => ({ forbidden: "get on configmaps" }),
  });
  assert.deepEqual([verdict.verdict, verdict.by, verdict.reason], ["cannot-tell", null, "configuration-unknown"]);
  assert(verdict.rules.every(({ message }) => !message.startsWith("cannot tell")), "said twice");
  assert.match(verdict.message, /needs get on configmaps/);
});

Deno.test("without a cluster one called webhook is assumed", () => {
  const verdict = ask(pod({ labels: { "sidecar.istio.io/inject": "false" } }), {}, { webhooks: "assumed" });
  assert.deepEqual([verdict.verdict, verdict.reason], ["not-injected", "label-inject-false"]);
  assert.equal(verdict.rules[0]?.effect, "unknown");
  const { verdict: answer, by } = ask(pod(), {}, { webhooks: "assumed" });
  assert.deepEqual([answer, by], ["injected", "assumed"]);
});

const HIDDEN = { webhooks: { forbidden: "list on mutatingwebhookconfigurations" } } as const;

Deno.test("without the right to list webhooks it is unknown whether one is called", () => {
  const labels = [{}, { "istio-injection": "enabled" }, { "istio-injection": "enable" }, { "istio.io/rev": "nobody" }];
  for (const each of labels) {
    const { verdict, by, reason, message } = ask(pod({ labels: { "sidecar.istio.io/inject": "true" } }), each, HIDDEN);
    assert.deepEqual([verdict, by, reason], ["cannot-tell", null, "webhooks-unknown"]);
    assert.match(message, /needs list on mutatingwebhookconfigurations; "kubectl mesh check --rbac"/);
  }
});

Deno.test("pods that are never injected are known without the webhooks", () => {
  const shown = (made: Pod, labels: Record<string, string> = {}, more: Partial<Question> = HIDDEN) => {
    const { verdict, reason } = ask(made, labels, more);
    return [verdict, reason];
  };
  const out = { "sidecar.istio.io/inject": "false" };
  assert.deepEqual(shown(pod({}, { hostNetwork: true })), ["not-injected", "pod-host-network"]);
  assert.deepEqual(shown(pod({ labels: out })), ["not-injected", "label-inject-false"]);
  assert.deepEqual(shown(pod({ annotations: out })), ["not-injected", "annotation-inject-false"]);
  assert.deepEqual(shown(pod({ namespace: "kube-system" })), ["not-injected", "namespace-ignored"]);
  assert.deepEqual(shown(pod(), { "istio-injection": "disabled" }), ["not-injected", "namespace-disabled"]);
  const noConfiguration = { injectorFor: () => ({ failed: "no" }) };
  assert.deepEqual(shown(pod({ labels: out }), { "istio-injection": "enabled" }, noConfiguration), [
    "not-injected",
    "not-called",
  ]);
  assert.deepEqual(shown(pod({ annotations: out }), { "istio-injection": "enabled" }, noConfiguration), [
    "not-injected",
    "annotation-inject-false",
  ]);
});

/** Returns the verdict if the webhooks have these match conditions. */
function onCondition(made: Pod, ...expressions: readonly string[]) {
  const matchConditions = expressions.map((expression, index) => ({ name: `c${index}`, expression }));
  const webhooks = injectorWebhooks(meshWebhooks()).map((each) => ({ ...each, matchConditions }));
  return ask(made, { "istio-injection": "enabled" }, { webhooks: { value: webhooks } });
}

Deno.test("a false condition excludes the pod, whatever the others are", () => {
  const never = "object.metadata.name != 'web'";
  const { verdict, reason, field, message, rules } = onCondition(
    pod(),
    "authorizer == null",
    "object.a.b == 1",
    never,
  );
  assert.deepEqual([verdict, reason, field], ["not-injected", "match-condition", 'matchConditions["c2"]']);
  assert.match(
    message,
    /^the condition "c2" of istio-sidecar-injector\/.* is false: object\.metadata\.name != 'web'$/,
  );
  const own = rules.filter(({ field }) => field.startsWith("matchConditions"));
  assert.deepEqual(own.map(({ effect, value }) => [effect, value]), [
    ["unknown", "authorizer == null"],
    ["unknown", "object.a.b == 1"],
    ["not-called", never],
  ]);
});

Deno.test("a pod that matches a condition is injected", () => {
  const { verdict, reason } = onCondition(pod(), "object.metadata.name == 'web'");
  assert.deepEqual([verdict, reason], ["injected", "policy-enabled"]);
});

Deno.test("a failing condition denies the pod, or with Ignore skips the webhook", () => {
  const failing = "object.metadata.labels['a'] == 'b'";
  const refused = onCondition(pod(), failing);
  assert.deepEqual([refused.verdict, refused.reason], ["refused", "match-condition-fails"]);
  assert.match(refused.message, /fails, and failurePolicy is Fail: No such key: labels/);
  const matchConditions = [{ name: "c", expression: failing }];
  const webhooks = injectorWebhooks(meshWebhooks({ failurePolicy: "Ignore" })).map((each) => ({
    ...each,
    matchConditions,
  }));
  const ignored = ask(pod(), { "istio-injection": "enabled" }, { webhooks: { value: webhooks } });
  assert.equal(ignored.verdict, "not-injected");
});

Deno.test("an unknown condition makes the verdict unknown, and the expression is named; a pod that opts out is not injected", () => {
  const hidden = "object.spec.priority > 0";
  const guess = onCondition(pod(), hidden);
  assert.deepEqual([guess.verdict, guess.reason], ["cannot-tell", "match-condition-unknown"]);
  assert.match(
    guess.message,
    /^cannot tell whether the webhook is called: .* it reads object\.spec\.priority, .*: object\.spec\.priority > 0$/,
  );
  const out = onCondition(pod({ annotations: { "sidecar.istio.io/inject": "false" } }), hidden);
  assert.deepEqual([out.verdict, out.reason], ["not-injected", "annotation-inject-false"]);
});
