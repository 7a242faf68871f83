import type { Pod } from "../../kube/client/mod.ts";
import { newMap, type ValueMap } from "../../base/value.ts";
import { decide, type Decision, findProxy, type Owner, podOwner } from "../../inject/mod.ts";
import { controlPlaneOf, planeKey } from "./control_planes.ts";
import { isAlive } from "./live_pods.ts";
import { isKnown, type Observed, once } from "./observed.ts";
import {
  type InjectorWebhook,
  injectorWebhooks,
  labelsByNamespace,
  labelsOfObject,
  sendsPod,
} from "./injector_webhooks.ts";
import type { InjectorInventory, ObservedPlane } from "./control_planes.ts";
import type { ResourceInventory } from "./resources.ts";
import type { Source } from "./source.ts";

/** A live pod, and what would happen to a new one. */
export interface ExpectedPod {
  readonly pod: Pod;
  readonly owner: Owner;
  readonly hasProxy: boolean;
  /** The first webhook that would be called. */
  readonly webhook: InjectorWebhook | undefined;
  readonly plane: ObservedPlane | undefined;
  /**
   * The decision of that webhook. Unknown without its configuration, and with match conditions, which may read dropped
   * fields.
   */
  readonly decision: Observed<Decision | undefined>;
}

type ExpectationParts =
  & Pick<ResourceInventory, "namespaces" | "mutatingWebhooks" | "pods">
  & Pick<InjectorInventory, "planes">;

/** Live pods of the scope with the expectation for each. Labels added after creation count too. */
export function expectationInventory({ scope }: Source, parts: ExpectationParts) {
  return {
    expectations: once(async (): Promise<Observed<readonly ExpectedPod[]>> => {
      const [pods, namespaces, webhooks] = await Promise.all([
        parts.pods(),
        parts.namespaces(),
        parts.mutatingWebhooks(),
      ]);
      if (!isKnown(pods)) return pods;
      if (!isKnown(namespaces)) return namespaces;
      if (!isKnown(webhooks)) return webhooks;
      const labels = labelsByNamespace(namespaces.value);
      const injectors = injectorWebhooks(webhooks.value);
      const { value: planes } = await parts.planes();
      const planeOf = (webhook: InjectorWebhook) => planes.get(planeKey(controlPlaneOf(webhook, scope)));
      return { value: pods.value.filter(isAlive).map((pod) => expected(pod, { labels, injectors, planeOf })) };
    }),
  };
}

interface Deciding {
  /** By namespace. */
  readonly labels: ReadonlyMap<string, ValueMap>;
  readonly injectors: readonly InjectorWebhook[];
  readonly planeOf: (webhook: InjectorWebhook) => ObservedPlane | undefined;
}

function expected(pod: Pod, { labels, injectors, planeOf }: Deciding): ExpectedPod {
  const { namespace = "" } = pod.metadata;
  const podLabels = labelsOfObject(pod);
  const webhook = injectors.find((each) => sendsPod(each, labels.get(namespace) ?? newMap(), podLabels));
  const owner = podOwner(pod, namespace);
  const plane = webhook === undefined ? undefined : planeOf(webhook);
  const decision = decisionOf({ pod, owner, webhook, plane });
  return { pod, owner, hasProxy: findProxy(pod) !== undefined, webhook, plane, decision };
}

function decisionOf(
  { pod, owner, webhook, plane }: Omit<ExpectedPod, "hasProxy" | "decision">,
): Observed<Decision | undefined> {
  if (webhook === undefined) return { value: undefined };
  if (webhook.matchConditions.length > 0) {
    const object = `${owner.kind.toLowerCase()}/${owner.name}`;
    const see = `see kubectl mesh check injection ${object} -n ${owner.namespace}`;
    return { broken: `"${webhook.name}" has matchConditions: ${see}`, object };
  }
  if (plane === undefined) return { broken: `the control plane of "${webhook.name}" is not known`, object: "" };
  if (!isKnown(plane.injector)) return plane.injector;
  return { value: decide(pod, { ...plane.injector.value.config, byHand: false }) };
}
