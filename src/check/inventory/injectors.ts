import { type ControlPlane, controlPlanes, planeKey } from "./control_planes.ts";
import { injectorOf, type PlaneTexts, planeTexts } from "./plane_configuration.ts";
import type { Injector } from "../../inject/mod.ts";
import type { KubeObject } from "../../core/kube/client/mod.ts";
import { type Fact, isKnown, once } from "./observed.ts";
import { injectorWebhooks } from "./injector_webhooks.ts";
import { objectOf, type Source } from "./source.ts";

/** A control plane, and its configuration as far as it can be had. */
export interface PlaneFact {
  readonly plane: ControlPlane;
  readonly texts: Fact<PlaneTexts>;
  /** What its webhook injects with. */
  readonly injector: Fact<Injector>;
}

/** Configurations of the control planes that webhooks call. ConfigMaps are asked for by name: no right to list them is needed. */
export function injectorFacts(source: Source, mutatingWebhooks: () => Promise<Fact<readonly KubeObject[]>>) {
  const maps = new Map<string, () => Promise<Fact<KubeObject | undefined>>>();
  const configMap = (namespace: string, name: string) => {
    const key = `${namespace}/${name}`;
    const get = maps.get(key) ?? once(() => objectOf(source, "api/v1", "configmaps", { namespace, name }));
    maps.set(key, get);
    return get();
  };
  const load = async (plane: ControlPlane): Promise<PlaneFact> => {
    const texts = await planeTexts(plane, configMap);
    const injector = isKnown(texts) ? await injectorOf(texts.value, plane.revision, source.clock) : texts;
    return { plane, texts, injector };
  };
  return {
    configMap,
    /** By `planeKey`. Where the webhooks are not known, that of the scope. */
    planes: once(async (): Promise<ReadonlyMap<string, PlaneFact>> => {
      const webhooks = await mutatingWebhooks();
      const found = controlPlanes(isKnown(webhooks) ? injectorWebhooks(webhooks.value) : [], source.scope);
      const loaded = await Promise.all(found.map(load));
      return new Map(loaded.map((each) => [planeKey(each.plane), each]));
    }),
  };
}
