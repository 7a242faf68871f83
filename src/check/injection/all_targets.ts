/** All workloads of a cluster or a namespace, as targets. */
import { MeshError } from "../../base/errors.ts";
import { isPod, type KubeApi, type KubeObject } from "../../kube/client/mod.ts";
import { WORKLOADS } from "../inventory/resources.ts";
import { collectionPath, type LabelChoice, queryOf } from "../inventory/source.ts";
import { objectTarget, type Target } from "./target.ts";

/** Workloads; pods and Jobs of a controller are explained by it. */
const COLLECTIONS = [...WORKLOADS, ["api/v1", "pods"] as const];

/** Which workloads. */
export interface AllWorkloads {
  /** `undefined` is all namespaces. */
  readonly namespace: string | undefined;
  /** Labels of the workloads, not of their pods. */
  readonly selector?: LabelChoice | undefined;
}

/**
 * The workloads, by namespace and name. Errors: errors of the API, also for one kind (its workloads would be missing);
 * a MeshError if there is none.
 */
export async function allTargets(api: KubeApi, { namespace, selector }: AllWorkloads): Promise<readonly Target[]> {
  const lists = await Promise.all(COLLECTIONS.map(([group, resource]) => {
    return api.list(collectionPath(group, resource, namespace), { limit: "100", ...queryOf(selector) }, kept);
  }));
  const targets = lists.flatMap(({ items }) => items.filter(isOnItsOwn).flatMap((item) => objectTarget(item) ?? []));
  if (targets.length > 0) return targets.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)));
  if (selector !== undefined) {
    throw new MeshError(`No workload has the labels "${selector.text}"`, { hint: "see --selector" });
  }
  throw new MeshError(
    namespace === undefined ? "The cluster has no workload" : `There is no workload in "${namespace}"`,
    { hint: "see --namespace" },
  );
}

/** Most objects are pods of controllers: only their owners are kept. */
function kept(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata: { name, ownerReferences } } = object;
  if (isOnItsOwn(object) || ownerReferences === undefined) return object;
  return { apiVersion, kind, metadata: { name, ownerReferences } };
}

function isOnItsOwn(object: KubeObject): boolean {
  const { ownerReferences, annotations } = object.metadata;
  if (Array.isArray(ownerReferences) && ownerReferences.length > 0) return false;
  return !(isPod(object) && Object(annotations)["kubernetes.io/config.mirror"] !== undefined);
}

function keyOf({ namespace, workload }: Target): string {
  return `${namespace}/${workload}`;
}
