import assert from "node:assert/strict";
import { decide } from "./decision.ts";
import type { Pod } from "../pod/pod.ts";

const POLICY = {
  policy: "enabled",
  neverInjectSelector: [],
  alwaysInjectSelector: [],
  byHand: true,
  form: "legacy",
} as const;

function podWith(key: "labels" | "annotations", value: string): Pod {
  return { metadata: { [key]: { "sidecar.istio.io/inject": value } }, spec: { containers: [{ name: "app" }] } };
}

const ANNOTATIONS: readonly (readonly [string, boolean, string])[] = [
  ["true", true, "annotation-inject-true"],
  ["yes", true, "annotation-inject-true"],
  ["Y", true, "annotation-inject-true"],
  ["ON", true, "annotation-inject-true"],
  ["", true, "policy-enabled"],
  ["false", false, "annotation-inject-false"],
  ["no", false, "annotation-inject-false"],
  ["1", false, "annotation-inject-false"],
];

for (const [value, inject, reason] of ANNOTATIONS) {
  Deno.test(`decide: in 1.0 to 1.8 the annotation "${value}" is ${inject ? "yes" : "no"}`, () => {
    const decision = decide(podWith("annotations", value), POLICY);
    assert.deepEqual([decision.inject, decision.reason, decision.warnings], [inject, reason, []]);
  });
}

Deno.test("decide: in 1.0 to 1.8 the label is ignored with a warning", () => {
  const decision = decide(podWith("labels", "false"), POLICY);
  assert.equal(decision.inject, true);
  assert.match(decision.warnings[0] ?? "", /is ignored with a configuration of Istio 1\.0 to 1\.8/);
});

const PROXIES: readonly (readonly [string, readonly string[], boolean, boolean])[] = [
  ["beside another container, by hand", ["app", "istio-proxy"], true, false],
  ["beside another container, in the webhook", ["app", "istio-proxy"], false, true],
  ["alone", ["istio-proxy"], true, true],
  ["not there", ["app", "other"], true, true],
];

for (const [name, names, byHand, inject] of PROXIES) {
  Deno.test(`decide: the proxy ${name}: ${inject ? "injected" : "skipped"}`, () => {
    const pod = { spec: { containers: names.map((container) => ({ name: container })) } };
    const decision = decide(pod, { ...POLICY, byHand });
    assert.equal(decision.inject, inject);
    assert.equal(decision.reason, inject ? "policy-enabled" : "already-injected");
  });
}
