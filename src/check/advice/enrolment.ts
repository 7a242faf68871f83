/** The risk of changing a namespace's labels or of removing webhooks. */
import type { Pod } from "../../kube/client/mod.ts";
import { newMap, type ValueMap } from "../../base/value.ts";
import { findProxy } from "../../inject/mod.ts";
import { anySends, type InjectorWebhook, labelsOfObject, namespaceLabels } from "../inventory/injector_webhooks.ts";
import { isAlive } from "../inventory/live_pods.ts";
import type { Advice, Risk } from "./advice.ts";
import { type LabelChange, labelNamespace } from "./commands.ts";

/** A namespace, and the webhooks and pods that determine how risky it is to change the namespace's labels. */
export interface Enrolment {
  readonly name: string;
  readonly labels: ValueMap;
  readonly webhooks: readonly InjectorWebhook[] | undefined;
  /** Live pods of all namespaces; `undefined` if the pods are unknown. */
  readonly pods: readonly Pod[] | undefined;
}

export function changedLabels(labels: ValueMap, change: LabelChange): ValueMap {
  const all = Object.entries({ ...labels, ...change }).filter(([, value]) => value !== undefined);
  return Object.assign(newMap(), Object.fromEntries(all));
}

/**
 * Returns the risk of changing labels: `takes-out` if pods lose their proxy, `enrols` if a namespace without proxies
 * becomes injected. If the webhooks are unknown, assumes the worst. If the pods are unknown, assumes pods without
 * labels.
 */
export function riskOfLabels({ name, labels, webhooks, pods }: Enrolment, change: LabelChange): Risk {
  if (webhooks === undefined) {
    return Object.values(change).some((value) => value === undefined) ? "takes-out" : "enrols";
  }
  const after = changedLabels(labels, change);
  const isSent = (of: ValueMap, pod: ValueMap) => anySends(webhooks, namespaceLabels(name, of), pod);
  const live = pods?.filter((pod) => pod.metadata.namespace === name && isAlive(pod));
  const inMesh = live?.filter((pod) => findProxy(pod) !== undefined).map(labelsOfObject);
  const plain = newMap();
  const losing = (inMesh ?? [plain]).some((pod) => isSent(labels, pod) && !isSent(after, pod));
  if (losing) return "takes-out";
  const isNew = !isSent(labels, plain) && isSent(after, plain);
  return isNew && (inMesh ?? []).length === 0 ? "enrols" : "none";
}

export function relabelled(enrolment: Enrolment, change: string, of: LabelChange): Advice {
  const { name, labels } = enrolment;
  const risk = riskOfLabels(enrolment, of);
  return { change, reach: "namespace", steps: [labelNamespace(name, of, labels)], risk, namespace: name };
}

export function riskOfRemoval(
  all: readonly InjectorWebhook[],
  isRemoved: (webhook: InjectorWebhook) => boolean,
  namespaces: readonly (readonly [name: string, labels: ValueMap])[],
  pods: readonly Pod[] | undefined,
): Risk {
  const left = all.filter((webhook) => !isRemoved(webhook));
  const isLost = ([name, labels]: readonly [string, ValueMap]) => {
    const of = namespaceLabels(name, labels);
    const own = pods?.filter((pod) => pod.metadata.namespace === name && isAlive(pod)).map(labelsOfObject) ?? [];
    return [newMap(), ...own].some((pod) => anySends(all, of, pod) && !anySends(left, of, pod));
  };
  return namespaces.some(isLost) ? "takes-out" : "none";
}
