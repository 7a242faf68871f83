/** Evaluates whether the API server calls a webhook for a pod, requirement by requirement. */
import type { V1LabelSelectorRequirement } from "@kubernetes/client-node/models";
import type { LabelSelector, Plain } from "../../kube/client/mod.ts";
import { selectorMatches } from "../../kube/mod.ts";
import type { ValueMap } from "../../base/value.ts";
import type { InjectorWebhook } from "../inventory/injector_webhooks.ts";

/** A requirement of a webhook's selector, and the label that it tests. */
export interface Requirement {
  /**
   * Path of the label: `namespace.metadata.labels["istio-injection"]` or `metadata.labels["sidecar.istio.io/inject"]`.
   */
  readonly field: string;
  readonly value: string | undefined;
  readonly wanted: string;
  readonly isPositive: boolean;
  readonly isMet: boolean;
}

export interface Labels {
  readonly namespace: ValueMap;
  readonly pod: ValueMap;
}

/** The result of matching. `decided` is the first unmet requirement or, if all are met, a requirement for a label. */
export interface Match {
  readonly isCalled: boolean;
  readonly decided: Requirement | undefined;
}

/**
 * Tests the labels against both selectors of a webhook. An empty selector matches everything (Kubernetes, "Dynamic
 * Admission Control").
 */
export function matchOf({ namespaceSelector, objectSelector }: InjectorWebhook, labels: Labels): Match {
  const requirements = [
    ...requirementsOf(namespaceSelector, labels.namespace, "namespace"),
    ...requirementsOf(objectSelector, labels.pod, "pod"),
  ];
  const unmet = requirements.filter(({ isMet }) => !isMet);
  if (unmet.length === 0) return { isCalled: true, decided: requirements.find(({ isPositive }) => isPositive) };
  return { isCalled: false, decided: unmet[0] };
}

type Expression = Plain<V1LabelSelectorRequirement>;

function requirementsOf(selector: LabelSelector, labels: ValueMap, of: "namespace" | "pod"): readonly Requirement[] {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const equal = Object.entries(matchLabels).map(([key, value]) => ({ key, operator: "In", values: [value] }));
  return [...equal, ...matchExpressions].map((expression) => requirement(expression, labels, of));
}

const POSITIVE = ["In", "Exists"];

function requirement(expression: Expression, labels: ValueMap, of: "namespace" | "pod"): Requirement {
  const { key = "", operator = "", values = [] } = expression;
  const value = labels[key];
  return {
    field: `${of === "namespace" ? "namespace." : ""}metadata.labels["${key}"]`,
    value: typeof value === "string" ? value : undefined,
    wanted: values.length === 0 ? operator : `${operator} [${values.join(", ")}]`,
    isPositive: POSITIVE.includes(operator),
    isMet: selectorMatches({ matchExpressions: [expression] }, labels).matches,
  };
}
