/** A decision explained rule by rule. */
import { goJson } from "../../golang/gojson/mod.ts";
import { ANNOTATION } from "../../istio/mod.ts";
import { textAt, type Value } from "../../base/value.ts";
import type { Answer } from "./answer.ts";
import { type DecisionPolicy, type RuleName, rulesFor } from "./decision.ts";
import { annotation, labelsOf, metadataOf, type Pod, specOf } from "../pod/pod.ts";

/** A rule, and the value that it reads. */
export interface DecisionStep {
  readonly rule: string;
  /** Of the pod (`spec.hostNetwork`) or of the configuration (`policy`). */
  readonly field: string;
  /** The field's value; `undefined` if it is missing. */
  readonly value: string | undefined;
  /** The answer of the deciding rule. */
  readonly answer?: Answer;
  /** An earlier rule decides. */
  readonly isLate: boolean;
}

type Reading = Pick<DecisionStep, "rule" | "field" | "value">;

/** All rules in the order of `decide`, with the deciding one. */
export function decisionSteps(pod: Pod, policy: DecisionPolicy): readonly DecisionStep[] {
  let isLate = false;
  return rulesFor(policy.form).flatMap(([name, answerOf]) => {
    const answer = isLate ? undefined : answerOf(pod, policy);
    const late = isLate;
    if (answer !== undefined) isLate = true;
    return READINGS[name](pod, policy).map((reading) => step(reading, answer, late));
  });
}

/** A rule that reads several fields has its answer at the deciding field. */
function step(reading: Reading, answer: Answer | undefined, isLate: boolean): DecisionStep {
  const field = answer?.field ?? "";
  const decided = field === reading.field || field.startsWith(`${reading.field}[`);
  return answer !== undefined && decided ? { ...reading, field, answer, isLate } : { ...reading, isLate };
}

const READINGS: Readonly<Record<RuleName, (pod: Pod, policy: DecisionPolicy) => readonly Reading[]>> = {
  "host-network": (pod) => [
    { rule: "host-network", field: "spec.hostNetwork", value: text(specOf(pod)["hostNetwork"]) },
  ],
  "already-injected": (_pod, { byHand }) =>
    byHand ? [{ rule: "already-injected", field: "spec.containers", value: undefined }] : [],
  "ignored-namespace": (pod) => [
    { rule: "ignored-namespace", field: "metadata.namespace", value: textAt(metadataOf(pod), "namespace") },
  ],
  "policy-known": (_pod, { policy }) => [{ rule: "policy-known", field: "policy", value: policy }],
  request: (pod, { form }) => [
    ...form === "legacy" ? [] : [labelReading(pod)],
    {
      rule: "annotation",
      field: `metadata.annotations["${ANNOTATION.inject}"]`,
      value: annotation(pod, ANNOTATION.inject),
    },
  ],
  "never-inject-selector": (_pod, { neverInjectSelector }) => [
    { rule: "never-inject-selector", field: "neverInjectSelector", value: listText(neverInjectSelector) },
  ],
  "always-inject-selector": (_pod, { alwaysInjectSelector }) => [
    { rule: "always-inject-selector", field: "alwaysInjectSelector", value: listText(alwaysInjectSelector) },
  ],
  policy: (_pod, { policy }) => [{ rule: "policy", field: "policy", value: policy }],
};

function labelReading(pod: Pod): Reading {
  return {
    rule: "label",
    field: `metadata.labels["${ANNOTATION.inject}"]`,
    value: text(labelsOf(pod)[ANNOTATION.inject]),
  };
}

function text(value: Value | undefined): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}

function listText(list: readonly Value[]): string | undefined {
  return list.length === 0 ? undefined : goJson([...list], { escapeHtml: false });
}
