/** Reads collections of objects. */
import { apiPath } from "../../kube/api_path.ts";
import {
  isLimitRange,
  isMutatingWebhookConfiguration,
  isNamespace,
  isNode,
  isPod,
  isResourceQuota,
  type KubeObject,
  type Namespace,
  ofKind,
} from "../../kube/client/mod.ts";
import { applicationKeeper, namespaceKeeper, nodeKeeper, podKeeper, workloadKeeper } from "./kept_fields.ts";
import { injectorWebhooks } from "./injector_webhooks.ts";
import { joined, mapKnown, observe, type Observed, once } from "./observed.ts";
import { listOf, queryOf, type Source } from "./source.ts";

/** A page of 500 pods would dominate memory use, and pages of 50 would double the round trips. */
export const PAGE_OF_PODS = { limit: "100" };

const ADMISSION = "apis/admissionregistration.k8s.io/v1";

/** Built-in kinds that create pods. */
export const WORKLOADS: readonly (readonly [group: string, resource: string])[] = [
  ["apis/apps/v1", "deployments"],
  ["apis/apps/v1", "statefulsets"],
  ["apis/apps/v1", "daemonsets"],
  ["apis/batch/v1", "jobs"],
  ["apis/batch/v1", "cronjobs"],
];

/** Getters of objects in the scope, and of nodes and webhooks. They keep only fields that checks read. */
export function resourceInventory(source: Source) {
  const { namespace } = source.scope;
  const namespaces = once(() => namespacesOf(source));
  const mutatingWebhooks = once(() =>
    listOf(source, ADMISSION, "mutatingwebhookconfigurations", { isKind: isMutatingWebhookConfiguration })
  );
  return {
    pods: once(() =>
      listOf(source, "api/v1", "pods", {
        isKind: isPod,
        query: { ...PAGE_OF_PODS, ...queryOf(source.scope.selector) },
        keep: podKeeper(),
        namespace,
      })
    ),
    namespaces,
    /** One namespace inside or outside the scope; `undefined` if the namespace does not exist. */
    namespace: async (name: string): Promise<Observed<Namespace | undefined>> => {
      if (namespace !== undefined && name !== namespace) return await namespaceNamed(source, name);
      return mapKnown(await namespaces(), (all) => all.find(({ metadata }) => metadata.name === name));
    },
    nodes: once(() =>
      listOf(source, "api/v1", "nodes", { isKind: isNode, query: { limit: "50" }, keep: nodeKeeper() })
    ),
    mutatingWebhooks,
    /** The injection webhooks of all revisions. */
    injectors: once(async () => mapKnown(await mutatingWebhooks(), injectorWebhooks)),
    validatingWebhooks: once(() => listOf(source, ADMISSION, "validatingwebhookconfigurations", { isKind: isObject })),
    /** The Argo CD Applications with this name. Not read if the scope is one namespace: only advice needs them. */
    applications: (name: string) =>
      namespace === undefined
        ? listOf(source, "apis/argoproj.io/v1alpha1", "applications", {
          isKind: isObject,
          query: { fieldSelector: `metadata.name=${name}` },
          keep: applicationKeeper(),
        })
        : Promise.resolve({ failed: "Applications of other namespaces are not read" }),
    resourceQuotas: once(() => listOf(source, "api/v1", "resourcequotas", { isKind: isResourceQuota, namespace })),
    limitRanges: once(() => listOf(source, "api/v1", "limitranges", { isKind: isLimitRange, namespace })),
    workloads: once(() => workloads(source)),
    /** Events about controllers whose pods the API server refused. */
    failedCreations: once(async () => {
      const query = { fieldSelector: `reason=${FAILED_CREATE}`, limit: "500" };
      const events = await listOf(source, "api/v1", "events", { isKind: isObject, namespace, query });
      return mapKnown(events, (all) => all.filter(({ reason }) => reason === FAILED_CREATE));
    }),
  };
}

/** Returns the namespaces of the scope. A single namespace is read by name, which needs no right to list. */
async function namespacesOf(source: Source): Promise<Observed<readonly Namespace[]>> {
  const { namespace } = source.scope;
  const keep = namespaceKeeper();
  if (namespace === undefined) return await listOf(source, "api/v1", "namespaces", { isKind: isNamespace, keep });
  return mapKnown(await namespaceNamed(source, namespace), (found) => found === undefined ? [] : [found]);
}

function namespaceNamed({ api }: Source, name: string): Promise<Observed<Namespace | undefined>> {
  return observe(
    `get on namespaces "${name}"`,
    async () => ofKind(await api.get(apiPath("api/v1", "namespaces", undefined, name)), isNamespace),
  );
}

const FAILED_CREATE = "FailedCreate";

const isObject = (_object: KubeObject): _object is KubeObject => true;

export type ResourceInventory = ReturnType<typeof resourceInventory>;

async function workloads(source: Source): Promise<Observed<readonly KubeObject[]>> {
  const options = {
    isKind: isObject,
    namespace: source.scope.namespace,
    query: { limit: "100" },
    keep: workloadKeeper(),
  };
  const lists = WORKLOADS.map(([group, resource]) => listOf(source, group, resource, options));
  return joined(await Promise.all(lists));
}
