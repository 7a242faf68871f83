/** Which pods of a cluster match which webhook. */
import type { LabelSelector, Namespace, Pod } from "../../../kube/client/mod.ts";
import { newMap, type ValueMap } from "../../../base/value.ts";
import { LABEL } from "../../../istio/annotations/labels.ts";
import { type InjectorWebhook, labelsOfObject, sendsPod } from "../../inventory/injector_webhooks.ts";

/** How many pods match a webhook when they are recreated, and their namespaces. */
export interface Radius {
  readonly pods: number;
  readonly namespaces: readonly string[];
}

/** The live pods that webhooks match. A pod counts once. */
export function radiusOf(
  webhooks: readonly InjectorWebhook[],
  namespaces: readonly Namespace[],
  pods: readonly Pod[],
): Radius {
  const labels = new Map(namespaces.map((namespace) => [namespace.metadata.name, labelsOfObject(namespace)]));
  const counted = new Set<string>();
  let count = 0;
  for (const pod of pods) {
    const { namespace = "" } = pod.metadata;
    const of = labels.get(namespace);
    if (of === undefined || !webhooks.some((webhook) => sendsPod(webhook, of, labelsOfObject(pod)))) continue;
    count++;
    counted.add(namespace);
  }
  return { pods: count, namespaces: [...counted].sort() };
}

/** Labels that a pod of a namespace may have. */
export interface Candidate {
  readonly labels: ValueMap;
  /** Live pods have these labels, or pods need none. Otherwise they are injection labels that no pod has yet. */
  readonly isReal: boolean;
}

/** Label sets to try in a namespace: none, the relevant labels of its pods, injection labels. */
export function labelsToTry(webhooks: readonly InjectorWebhook[], pods: readonly Pod[]): Candidate[] {
  const keys = new Set(webhooks.flatMap(({ objectSelector }) => keysOf(objectSelector)));
  const own = pods.map((pod) => {
    const labels = labelsOfObject(pod);
    return Object.fromEntries([...keys].flatMap((key) => key in labels ? [[key, labels[key] ?? ""]] : []));
  });
  const revisions = webhooks.map(({ tag, revision }) => ({ [LABEL.revision]: tag ?? revision }));
  const candidates = [
    ...[newMap(), ...own].map((labels) => ({ labels, isReal: true })),
    ...[{ [LABEL.inject]: "true" }, ...revisions].map((labels) => ({ labels, isReal: false })),
  ];
  return [...new Map(candidates.toReversed().map((each) => [JSON.stringify(each.labels), each])).values()].toReversed();
}

/** The label keys of a selector. */
function keysOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string[] {
  return [...Object.keys(matchLabels), ...matchExpressions.flatMap(({ key }) => key ?? [])];
}
