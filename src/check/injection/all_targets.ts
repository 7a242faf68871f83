/** Lists all workloads of a cluster or a namespace. */
import { apiPath } from "../../kube/api_path.ts";
import { MeshError } from "../../base/errors.ts";
import { isPod, type KubeApi, type KubeObject } from "../../kube/client/mod.ts";
import { WORKLOADS } from "../inventory/resources.ts";
import { hasNamespace, type LabelChoice, noNamespace, queryOf } from "../inventory/source.ts";
import { objectTarget, type Target } from "./target.ts";

/** Collections to list. Pods and Jobs of a controller are left out, because their controller is listed. */
const COLLECTIONS = [...WORKLOADS, ["api/v1", "pods"] as const];

export interface AllWorkloads {
  /** The namespace; `undefined` selects all namespaces. */
  readonly namespace: string | undefined;
  /** Selects workloads by their own labels, not by the labels of their pods. */
  readonly selector?: LabelChoice | undefined;
}

/** Lists workloads. Throws errors of the API if any kind cannot be listed, and a MeshError if there is no workload. */
export async function allTargets(
  api: Pick<KubeApi, "get" | "list">,
  { namespace, selector }: AllWorkloads,
): Promise<readonly Target[]> {
  const lists = await Promise.all(COLLECTIONS.map(([group, resource]) => {
    return api.list(apiPath(group, resource, namespace), { limit: "100", ...queryOf(selector) }, kept);
  }));
  const targets = lists.flatMap(({ items }) => items.filter(isOnItsOwn).flatMap((item) => objectTarget(item) ?? []));
  if (targets.length > 0) return targets.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)));
  if (!await hasNamespace(api, namespace)) throw noNamespace(namespace);
  if (selector !== undefined) {
    throw new MeshError(`No workload has the labels "${selector.text}"`, { hint: "see --selector" });
  }
  // A cluster without any workload is probably the wrong cluster.
  if (namespace === undefined) throw new MeshError("The cluster has no workload", { hint: "see --context" });
  throw new MeshError(`There is no workload in the namespace "${namespace}"`, { hint: "see --namespace" });
}

/** Keeps only name and owners of objects that belong to a controller, which are most of the objects. */
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
