/** Reads the running pods with a sidecar, by workload, and the templates of these workloads. */
import { apiPath } from "../../kube/api_path.ts";
import { isPod, type KubeApi, type KubeObject, type Pod, readWorkloadName } from "../../kube/client/mod.ts";
import { errorLine, MeshError } from "../../base/errors.ts";
import { type Owner, podOwner } from "../../inject/mod.ts";
import { objectTarget, type Target, targetOf } from "../injection/target.ts";
import { isAlive, livePod } from "../inventory/live_pods.ts";
import { PAGE_OF_PODS, WORKLOADS } from "../inventory/resources.ts";
import { isKnown, observe, type Observed } from "../inventory/observed.ts";
import { type LabelChoice, queryOf } from "../inventory/source.ts";
import { type Parts, partsOf } from "./parts.ts";

/** Running pods of a workload with the same sidecar. */
export interface Running {
  readonly owner: Owner;
  readonly revision: string;
  readonly isNative: boolean;
  readonly parts: Parts;
  readonly pods: number;
}

export interface PodChoice {
  /** Namespace of the pods; `undefined` means all namespaces. */
  readonly namespace: string | undefined;
  readonly selector: LabelChoice | undefined;
}

/** Returns the running pods with a sidecar. Groups pods with equal sidecars. */
export async function runningSidecars(api: Pick<KubeApi, "list">, choice: PodChoice): Promise<readonly Running[]> {
  const known = new Map<string, Omit<Running, "pods">>();
  const query = { ...PAGE_OF_PODS, ...queryOf(choice.selector) };
  // The client may repeat the request of a page, so a count in the callback could count pods twice.
  const { items } = await api.list(apiPath("api/v1", "pods", choice.namespace), query, (object) => {
    const running = isPod(object) ? sidecarOf(object) : undefined;
    const key = running === undefined ? "" : JSON.stringify(running);
    if (running !== undefined && !known.has(key)) known.set(key, running);
    return { apiVersion: "v1", kind: "Pod", metadata: { name: object.metadata.name }, key };
  });
  const groups = Map.groupBy(items, ({ key }) => String(key));
  return [...known].map(([key, running]) => ({ ...running, pods: groups.get(key)?.length ?? 0 }));
}

function sidecarOf(pod: Pod): Omit<Running, "pods"> | undefined {
  const { proxy, native: isNative, revision } = livePod(pod);
  const parts = proxy && isAlive(pod) ? partsOf({ ...pod }) : undefined;
  if (parts === undefined) return undefined;
  return {
    owner: podOwner({ ...pod }, pod.metadata.namespace ?? ""),
    revision: revision ?? "default",
    isNative,
    parts,
  };
}

/** Formats the name of a workload: `deployment/web`. */
export function workloadName({ kind, name }: Pick<Owner, "kind" | "name">): string {
  return `${kind.toLowerCase()}/${name}`;
}

export type Templates = (owner: Owner) => Promise<Observed<Target>>;

/** Lists workloads of the built-in kinds first. All others are read by name. */
export async function templatesOf(api: KubeApi, { namespace }: PodChoice): Promise<Templates> {
  const lists = await Promise.all(WORKLOADS.map(([group, resource]) => {
    const path = apiPath(group, resource, namespace);
    return observe(`list on ${resource}`, () => api.list(path, { limit: "100" }, withoutStatus));
  }));
  const objects = lists.flatMap((list) => isKnown(list) ? list.value.items : []);
  const targets = objects.flatMap((each) => objectTarget(each) ?? []);
  const known = new Map(targets.map((each) => [keyOf({ ...each, kind: each.row.kind }), each]));
  return async (owner) => {
    const found = known.get(keyOf(owner));
    return found === undefined ? await byName(api, owner) : { value: found };
  };
}

/** Returns a key that identifies a workload. */
export function keyOf({ kind, namespace, name }: Pick<Owner, "kind" | "namespace" | "name">): string {
  return `${namespace}/${kind}/${name}`;
}

function withoutStatus({ status: _status, ...object }: KubeObject): KubeObject {
  const { name, namespace, labels, annotations } = object.metadata;
  const strings = { ...labels === undefined ? {} : { labels }, ...annotations === undefined ? {} : { annotations } };
  return { ...object, metadata: { name, ...namespace === undefined ? {} : { namespace }, ...strings } };
}

async function byName(api: KubeApi, owner: Owner): Promise<Observed<Target>> {
  const object = workloadName(owner);
  try {
    const { path, kind } = readWorkloadName(object);
    const where = path(owner.namespace);
    const right = `get on ${where.split("/").at(-2)} in the namespace "${owner.namespace}"`;
    const found = await observe(right, () => api.get(where));
    if (!isKnown(found)) return found;
    const target = found.value && targetOf({ ...found.value, kind }, owner.namespace, undefined);
    return target === undefined ? { broken: `there is no ${object}`, object } : { value: target };
  } catch (error) {
    if (error instanceof MeshError) return { broken: errorLine(error), object };
    throw error;
  }
}
