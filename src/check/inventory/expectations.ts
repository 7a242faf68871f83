import type { KubeObject } from "../../core/kube/client/mod.ts";
import { newMap, type ValueMap } from "../../core/value.ts";
import { decide, type Decision, findProxy, type Owner, podOwner } from "../../inject/mod.ts";
import { controlPlaneOf, planeKey } from "./control_planes.ts";
import { isAlive } from "../injection/live.ts";
import { namespaceLabels } from "../injection/match.ts";
import { type Fact, isKnown, once } from "./observed.ts";
import { type InjectorWebhook, injectorWebhooks, labelsOfObject, sendsPod } from "./injector_webhooks.ts";
import type { PlaneFact } from "./injectors.ts";
import type { Source } from "./source.ts";

/** A live pod, and what would happen to it if it were made now. */
export interface ExpectedPod {
  readonly pod: KubeObject;
  readonly owner: Owner;
  readonly hasProxy: boolean;
  /** The first webhook that would get it. */
  readonly webhook: InjectorWebhook | undefined;
  readonly plane: PlaneFact | undefined;
  /**
   * What that webhook would decide; `undefined` if none is called, its configuration is not known, or it has conditions,
   * which may ask for what is not kept of pods.
   */
  readonly decision: Decision | undefined;
}

/** What the pods of the scope are compared with. */
export interface ExpectationParts {
  readonly pods: () => Promise<Fact<readonly KubeObject[]>>;
  readonly namespaces: () => Promise<Fact<readonly KubeObject[]>>;
  readonly mutatingWebhooks: () => Promise<Fact<readonly KubeObject[]>>;
  readonly planes: () => Promise<ReadonlyMap<string, PlaneFact>>;
}

/** Live pods of the scope with what is expected of each; labels that the pods have got since they were made count too. */
export function expectationFacts({ scope }: Source, parts: ExpectationParts) {
  return {
    expectations: once(async (): Promise<Fact<readonly ExpectedPod[]>> => {
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
  readonly planeOf: (webhook: InjectorWebhook) => PlaneFact | undefined;
}

function expected(pod: KubeObject, { labels, injectors, planeOf }: Known): ExpectedPod {
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
