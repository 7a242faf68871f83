import type { Namespace, Pod } from "../../kube/client/mod.ts";
import { newMap } from "../../base/value.ts";
import { decide, type Decision, findProxy, type Owner, podOwner } from "../../inject/mod.ts";
import { controlPlaneOf, type InjectorInventory, type ObservedPlane, planeKey } from "./control_planes.ts";
import { isAlive } from "./live_pods.ts";
import { isKnown, type Observed, once } from "./observed.ts";
import { type InjectorWebhook, labelsByNamespace, labelsOfObject, sendsPod } from "./injector_webhooks.ts";
import type { ResourceInventory } from "./resources.ts";
import type { Source } from "./source.ts";

/** A live pod, and what would happen to a new pod of the same workload. */
export interface ExpectedPod {
  readonly pod: Pod;
  readonly owner: Owner;
  readonly hasProxy: boolean;
  /** The first webhook that would be called. Unknown if the webhooks or the labels of the namespace are unknown. */
  readonly webhook: Observed<InjectorWebhook | undefined>;
  readonly plane: ObservedPlane | undefined;
  /** Unknown if the configuration is unknown, or if match conditions may read fields that are not kept in memory. */
  readonly decision: Observed<Decision | undefined>;
}

type ExpectationParts =
  & Pick<ResourceInventory, "namespaces" | "injectors" | "pods">
  & Pick<InjectorInventory, "planes">;

/**
 * Returns a getter of the live pods in the scope, with the expectation for each. Labels that were added after creation
 * count too. Data that needs no webhook, such as whether a pod has a proxy, is known without the right to read
 * webhooks.
 */
export function expectationInventory({ scope }: Source, parts: ExpectationParts) {
  return {
    expectations: once(async (): Promise<Observed<readonly ExpectedPod[]>> => {
      const [pods, namespaces, webhooks] = await Promise.all([
        parts.pods(),
        parts.namespaces(),
        parts.injectors(),
      ]);
      if (!isKnown(pods)) return pods;
      const { value: planes } = await parts.planes();
      const webhookFor = webhookFinder(namespaces, webhooks);
      const planeOf = (webhook: InjectorWebhook) => planes.get(planeKey(controlPlaneOf(webhook, scope)));
      return { value: pods.value.filter(isAlive).map((pod) => expected(pod, webhookFor(pod), planeOf)) };
    }),
  };
}

/** Returns a function that finds a pod's webhook. The labels of namespaces matter only if webhooks exist. */
function webhookFinder(
  namespaces: Observed<readonly Namespace[]>,
  injectors: Observed<readonly InjectorWebhook[]>,
): (pod: Pod) => ExpectedPod["webhook"] {
  if (!isKnown(injectors)) return () => injectors;
  if (injectors.value.length === 0) return () => ({ value: undefined });
  if (!isKnown(namespaces)) return () => namespaces;
  const labels = labelsByNamespace(namespaces.value);
  return (pod) => {
    const own = labels.get(pod.metadata.namespace ?? "") ?? newMap();
    return { value: injectors.value.find((each) => sendsPod(each, own, labelsOfObject(pod))) };
  };
}

function expected(
  pod: Pod,
  webhook: ExpectedPod["webhook"],
  planeOf: (webhook: InjectorWebhook) => ObservedPlane | undefined,
): ExpectedPod {
  const owner = podOwner(pod, pod.metadata.namespace ?? "");
  const hasProxy = findProxy(pod) !== undefined;
  if (!isKnown(webhook)) return { pod, owner, hasProxy, webhook, plane: undefined, decision: webhook };
  const plane = webhook.value === undefined ? undefined : planeOf(webhook.value);
  return { pod, owner, hasProxy, webhook, plane, decision: decisionOf(pod, owner, webhook.value, plane) };
}

function decisionOf(
  pod: Pod,
  owner: Owner,
  webhook: InjectorWebhook | undefined,
  plane: ObservedPlane | undefined,
): ExpectedPod["decision"] {
  if (webhook === undefined) return { value: undefined };
  if (webhook.matchConditions.length > 0) {
    const object = `${owner.kind.toLowerCase()}/${owner.name}`;
    const see = `see kubectl mesh check injection ${object} -n ${owner.namespace}`;
    return { broken: `"${webhook.name}" has matchConditions, ${see}`, object };
  }
  if (plane === undefined) return { broken: `the control plane of "${webhook.name}" is unknown`, object: "" };
  if (!isKnown(plane.injector)) return plane.injector;
  return { value: decide(pod, { ...plane.injector.value.config, byHand: false }) };
}
