/** Collections of objects. */
import {
  isLimitRange,
  isMutatingWebhookConfiguration,
  isNamespace,
  isNode,
  isPod,
  isResourceQuota,
  type KubeObject,
} from "../../core/kube/client/mod.ts";
import { namespaceKeeper, nodeKeeper, podKeeper, workloadKeeper } from "./kept_fields.ts";
import { isKnown, type Observed, once } from "./observed.ts";
import { listOf, type Source } from "./source.ts";

/**
 * The usual page of 500 pods would be the largest thing in memory. With 5,000 pods, pages of 50 save 4 MB more and
 * double the round trips.
 */
export const PAGE_OF_PODS = { limit: "100" };

const ADMISSION = "apis/admissionregistration.k8s.io/v1";

const WORKLOADS: readonly (readonly [group: string, resource: string])[] = [
  ["apis/apps/v1", "deployments"],
  ["apis/apps/v1", "statefulsets"],
  ["apis/apps/v1", "daemonsets"],
  ["apis/batch/v1", "jobs"],
  ["apis/batch/v1", "cronjobs"],
];

/** Of the scope: pods, workloads, quotas. Of the whole cluster: the rest. Only the fields that checks read are kept. */
export function resourceInventory(source: Source) {
  const { namespace } = source.scope;
  const pods = (of: { readonly namespace?: string }) =>
    once(() => listOf(source, "api/v1", "pods", { isKind: isPod, query: PAGE_OF_PODS, keep: podKeeper(), ...of }));
  const allPods = pods({});
  return {
    allPods,
    pods: namespace === undefined ? allPods : pods({ namespace }),
    namespaces: once(() => listOf(source, "api/v1", "namespaces", { isKind: isNamespace, keep: namespaceKeeper() })),
    nodes: once(() =>
      listOf(source, "api/v1", "nodes", { isKind: isNode, query: { limit: "50" }, keep: nodeKeeper() })
    ),
    mutatingWebhooks: once(() =>
      listOf(source, ADMISSION, "mutatingwebhookconfigurations", { isKind: isMutatingWebhookConfiguration })
    ),
    validatingWebhooks: once(() => listOf(source, ADMISSION, "validatingwebhookconfigurations", { isKind: isObject })),
    resourceQuotas: once(() => listOf(source, "api/v1", "resourcequotas", { isKind: isResourceQuota, namespace })),
    limitRanges: once(() => listOf(source, "api/v1", "limitranges", { isKind: isLimitRange, namespace })),
    workloads: once(() => workloads(source)),
  };
}

const isObject = (_object: KubeObject): _object is KubeObject => true;

export type ResourceInventory = ReturnType<typeof resourceInventory>;

async function workloads(source: Source): Promise<Observed<readonly KubeObject[]>> {
  const options = {
    isKind: isObject,
    namespace: source.scope.namespace,
    query: { limit: "100" },
    keep: workloadKeeper(),
  };
  const lists = await Promise.all(WORKLOADS.map(([group, resource]) => listOf(source, group, resource, options)));
  const unknown = lists.find((list) => !isKnown(list));
  return unknown ?? { value: lists.filter(isKnown).flatMap(({ value }) => value) };
}
