/** Evaluates whether the API server calls a webhook for a pod, requirement by requirement. */
import type { LabelSelector } from "../../kube/client/mod.ts";
import { selectorMatches } from "../../kube/mod.ts";
import type { ValueMap } from "../../base/value.ts";
import type { InjectorWebhook } from "../inventory/injector_webhooks.ts";
import { labelText } from "../inventory/served_labels.ts";

/** A requirement of a webhook's selector, and the label that it tests. */
interface Requirement {
  /** Path of the label, such as `namespace.metadata.labels["istio-injection"]`. */
  readonly field: string;
  readonly value: string | undefined;
  readonly wanted: string;
  readonly isPositive: boolean;
  readonly isMet: boolean;
}

/** The result of matching. `decided` is the first unmet requirement or, if all are met, a requirement for a label. */
export interface Match {
  readonly isCalled: boolean;
  readonly decided: Requirement | undefined;
}

/** Evaluates the selectors. An empty selector matches everything (Kubernetes, "Dynamic Admission Control"). */
export function matchOf(
  { namespaceSelector, objectSelector }: InjectorWebhook,
  namespace: ValueMap,
  pod: ValueMap,
): Match {
  const requirements = [
    ...requirementsOf(namespaceSelector, namespace, "namespace.metadata.labels"),
    ...requirementsOf(objectSelector, pod, "metadata.labels"),
  ];
  const unmet = requirements.find(({ isMet }) => !isMet);
  return { isCalled: unmet === undefined, decided: unmet ?? requirements.find(({ isPositive }) => isPositive) };
}

const POSITIVE = ["In", "Exists"];

function requirementsOf(selector: LabelSelector, labels: ValueMap, field: string): readonly Requirement[] {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const equal = Object.entries(matchLabels).map(([key, value]) => ({ key, operator: "In", values: [value] }));
  return [...equal, ...matchExpressions].map((expression) => {
    const { key = "", operator = "", values = [] } = expression;
    return {
      field: `${field}["${key}"]`,
      value: labelText(labels, key),
      wanted: values.length === 0 ? operator : `${operator} [${values.join(", ")}]`,
      isPositive: POSITIVE.includes(operator),
      isMet: selectorMatches({ matchExpressions: [expression] }, labels).matches,
    };
  });
}
