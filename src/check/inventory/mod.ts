/** The inventory of a cluster: getters that query the API at most once, when a check needs the value. */
import type { ProxyAnswer } from "../../explain/mod.ts";
import type { Pod } from "../../kube/client/mod.ts";
import { accessInventory } from "./access.ts";
import { injectorInventory } from "./control_planes.ts";
import { dryRunInventory } from "./dry_run.ts";
import { expectationInventory } from "./expectations.ts";
import { gatewayInventory } from "./gateway_crds.ts";
import { observe, type Observed } from "./observed.ts";
import { resourceInventory } from "./resources.ts";
import { serverInventory } from "./server.ts";
import { serviceInventory } from "./services.ts";
import { sidecarInventory } from "./sidecars.ts";
import type { Source } from "./source.ts";

/** Returns all getters for one cluster. A new inventory queries the cluster again. */
export function inventoryOf(source: Source) {
  const resources = resourceInventory(source);
  const injectors = injectorInventory(source, resources.injectors);
  const parts = { ...resources, ...injectors };
  return {
    scope: source.scope,
    clock: source.clock,
    ...parts,
    ...accessInventory(source),
    ...dryRunInventory(source, resources.namespaces),
    /** The state that a proxy reports through commands in its container; `undefined` if the container does not run. */
    proxyAnswer: (pod: Pod, container: string): Promise<Observed<ProxyAnswer | undefined>> =>
      observe(`get and create on pods/exec in the namespace "${pod.metadata.namespace}"`, async () => {
        const { askProxy } = await import("../../explain/mod.ts");
        return await askProxy({ api: source.api, clock: source.clock, pod, container });
      }),
    ...serverInventory(source),
    ...gatewayInventory(source),
    ...serviceInventory(source),
    ...expectationInventory(source, parts),
    ...sidecarInventory(source, parts),
  };
}

export type Inventory = ReturnType<typeof inventoryOf>;

export type { AccessRequest } from "./access.ts";
export { breakOf, isKnown, type Observed, reason, type Unknown } from "./observed.ts";
export {
  type CheckApi,
  hasAllPods,
  hasNamespace,
  isChosen,
  type LabelChoice,
  labelChoice,
  listOf,
  noNamespace,
  objectOf,
  queryOf,
  type Scope,
  type Source,
} from "./source.ts";
