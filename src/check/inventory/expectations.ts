import type { Pod } from "../../core/kube/client/mod.ts";
import { newMap, type ValueMap } from "../../core/value.ts";
import { decide, type Decision, findProxy, type Owner, podOwner } from "../../inject/mod.ts";
import { controlPlaneOf, planeKey } from "./control_planes.ts";
import { isAlive } from "./live_pods.ts";
import { isKnown, type Observed, once } from "./observed.ts";
import {
  type InjectorWebhook,
  injectorWebhooks,
  labelsOfObject,
  namespaceLabels,
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
   * The decision of that webhook; `undefined` without a webhook, without its configuration, and with match
   * conditions, which may read dropped fields of the pod.
   */
  readonly decision: Decision | undefined;
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
      const labels = new Map(namespaces.value.map(({ metadata }) => {
        return [metadata.name, namespaceLabels(metadata.name, metadata["labels"])] as const;
      }));
      const injectors = injectorWebhooks(webhooks.value);
      const planes = await parts.planes();
      const planeOf = (webhook: InjectorWebhook) => planes.get(planeKey(controlPlaneOf(webhook, scope)));
      const known: Known = { labels: (name) => labels.get(name) ?? newMap(), injectors, planeOf };
      return { value: pods.value.filter(isAlive).map((pod) => expected(pod, known)) };
    }),
  };
}

interface Known {
  readonly labels: (namespace: string) => ValueMap;
  readonly injectors: readonly InjectorWebhook[];
  readonly planeOf: (webhook: InjectorWebhook) => ObservedPlane | undefined;
}

function expected(pod: Pod, { labels, injectors, planeOf }: Known): ExpectedPod {
  const { namespace = "" } = pod.metadata;
  const podLabels = labelsOfObject(pod);
  const webhook = injectors.find((each) => sendsPod(each, labels(namespace), podLabels));
  const isSure = webhook !== undefined && webhook.matchConditions.length === 0;
  const plane = isSure ? planeOf(webhook) : undefined;
  const injector = plane?.injector;
  const decision = injector !== undefined && isKnown(injector)
    ? decide(pod, { ...injector.value.config, byHand: false })
    : undefined;
  return { pod, owner: podOwner(pod, namespace), hasProxy: findProxy(pod) !== undefined, webhook, plane, decision };
}
