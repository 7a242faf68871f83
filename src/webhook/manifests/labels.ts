import type { Plan } from "./options.ts";

/** By what the pods are found; a Deployment cannot change it. */
export function selectorLabels({ name }: Plan): Record<string, string> {
  return { "app.kubernetes.io/name": name };
}

/** What everything that is installed carries. */
export function labelsOf(plan: Plan): Record<string, string> {
  return { ...selectorLabels(plan), "app.kubernetes.io/part-of": "kubectl-mesh", "istio.io/rev": plan.revision };
}
