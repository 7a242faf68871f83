import assert from "node:assert/strict";
import type { Value, ValueMap } from "../../base/value.ts";
import { decide, type DecisionPolicy } from "./decision.ts";

const POLICY: DecisionPolicy = { policy: "enabled", neverInjectSelector: [], alwaysInjectSelector: [], byHand: false };
const INJECT = "sidecar.istio.io/inject";

interface Row {
  readonly name: string;
  readonly metadata?: ValueMap;
  readonly spec?: ValueMap;
  readonly policy?: Partial<DecisionPolicy>;
  readonly reason: string;
  readonly inject: boolean;
}

const matching: Value[] = [{ matchLabels: { app: "a" } }];
const labels = { app: "a" };

const ROWS: readonly Row[] = [
  { name: "a plain pod", reason: "policy-enabled", inject: true },
  {
    name: "host network before a label",
    spec: { hostNetwork: true },
    metadata: { labels: { [INJECT]: "true" } },
    reason: "pod-host-network",
    inject: false,
  },
  {
    name: "a namespace of the cluster",
    metadata: { namespace: "kube-system" },
    reason: "namespace-ignored",
    inject: false,
  },
  { name: "label false", metadata: { labels: { [INJECT]: "false" } }, reason: "label-inject-false", inject: false },
  {
    name: "annotation false",
    metadata: { annotations: { [INJECT]: "false" } },
    reason: "annotation-inject-false",
    inject: false,
  },
  {
    name: "label over annotation",
    metadata: { labels: { [INJECT]: "true" }, annotations: { [INJECT]: "false" } },
    reason: "label-inject-true",
    inject: true,
  },
  {
    name: "an empty label hides the annotation",
    metadata: { labels: { [INJECT]: "" }, annotations: { [INJECT]: "false" } },
    reason: "policy-enabled",
    inject: true,
  },
  {
    name: "never selector",
    metadata: { labels },
    policy: { neverInjectSelector: matching, alwaysInjectSelector: matching },
    reason: "never-inject-selector",
    inject: false,
  },
  {
    name: "annotation over never selector",
    metadata: { labels, annotations: { [INJECT]: "true" } },
    policy: { neverInjectSelector: matching },
    reason: "annotation-inject-true",
    inject: true,
  },
  {
    name: "an empty selector selects nothing",
    metadata: { labels },
    policy: { neverInjectSelector: [{}] },
    reason: "policy-enabled",
    inject: true,
  },
  {
    name: "an invalid selector selects nothing",
    metadata: { labels },
    policy: { neverInjectSelector: [{ matchExpressions: [{ key: "app", operator: "Is" }] }] },
    reason: "policy-enabled",
    inject: true,
  },
  {
    name: "always selector under a disabled policy",
    metadata: { labels },
    policy: { policy: "disabled", alwaysInjectSelector: matching },
    reason: "always-inject-selector",
    inject: true,
  },
  { name: "disabled policy", policy: { policy: "disabled" }, reason: "policy-disabled", inject: false },
  { name: "disabled policy by hand", policy: { policy: "disabled", byHand: true }, reason: "requested", inject: true },
  {
    name: "a policy that is none, though the pod asks",
    metadata: { labels: { [INJECT]: "true" } },
    policy: { policy: "on" },
    reason: "policy-invalid",
    inject: false,
  },
];

for (const { name, metadata = {}, spec = {}, policy, reason, inject } of ROWS) {
  Deno.test(`decide: ${name}`, () => {
    const decision = decide({ metadata, spec }, { ...POLICY, ...policy });
    assert.equal(decision.reason, reason);
    assert.equal(decision.inject, inject);
    assert.deepEqual(decision.warnings, []);
  });
}

Deno.test("decide: a selector does not apply to explicit requests, but a warning reports it", () => {
  const policy = { ...POLICY, byHand: true, neverInjectSelector: matching };
  const decision = decide({ metadata: { labels }, spec: {} }, policy);
  assert.equal(decision.reason, "policy-enabled");
  assert.deepEqual(decision.warnings, [
    "The webhook would not inject this pod: the configuration's neverInjectSelector matches (neverInjectSelector[0])",
  ]);
});

Deno.test("decide: an unknown value is a warning, and the policy counts", () => {
  const decision = decide({ metadata: { labels: { [INJECT]: "False" } } }, POLICY);
  assert.equal(decision.reason, "policy-enabled");
  assert.match(decision.warnings.join(), /"False", which is neither "true" nor "false"/);
});
