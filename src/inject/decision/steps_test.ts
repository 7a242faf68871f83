import assert from "node:assert/strict";
import type { DecisionPolicy } from "./decision.ts";
import { decide } from "./decision.ts";
import { decisionSteps } from "./decision.ts";
import type { Pod } from "../pod/pod.ts";

const POLICY: DecisionPolicy = {
  policy: "enabled",
  neverInjectSelector: [{ matchLabels: { app: "a" } }],
  alwaysInjectSelector: [],
  byHand: false,
};
const INJECT = "sidecar.istio.io/inject";

function stepTexts(pod: Pod, policy: DecisionPolicy = POLICY): string[] {
  return decisionSteps(pod, policy).map(({ rule, field, answer, isLate }) =>
    `${rule} ${field}${answer === undefined ? "" : ` ${answer.inject}`}${isLate ? " late" : ""}`
  );
}

Deno.test("decisionSteps: every rule in order, with the deciding field", () => {
  assert.deepEqual(stepTexts({ metadata: { annotations: { [INJECT]: "false" } } }), [
    "host-network spec.hostNetwork",
    "ignored-namespace metadata.namespace",
    "policy-known policy",
    `label metadata.labels["${INJECT}"]`,
    `annotation metadata.annotations["${INJECT}"] false`,
    "never-inject-selector neverInjectSelector late",
    "always-inject-selector alwaysInjectSelector late",
    "policy policy late",
  ]);
});

Deno.test("decisionSteps: the deciding selector by its index", () => {
  const [step] = decisionSteps({ metadata: { labels: { app: "a" } } }, POLICY).filter(({ answer }) => answer);
  assert.equal(step?.field, "neverInjectSelector[0]");
});

Deno.test("decisionSteps: the answer is the decision, for each rule", () => {
  const pods: Pod[] = [
    {},
    { spec: { hostNetwork: true } },
    { metadata: { namespace: "kube-system" } },
    { metadata: { labels: { [INJECT]: "true" } } },
    { metadata: { labels: { [INJECT]: "maybe", app: "a" } } },
  ];
  for (const policy of ["enabled", "disabled", "sometimes"]) {
    for (const form of ["modern", "legacy"] as const) {
      for (const pod of pods) {
        const all = { ...POLICY, policy, form };
        const answers = decisionSteps(pod, all).flatMap(({ answer }) => answer ?? []);
        const { warnings: _, ...decision } = decide(pod, all);
        assert.deepEqual(answers, [decision]);
      }
    }
  }
});
