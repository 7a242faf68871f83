/** Serves a snapshot of a cluster through the interface of the API client. */
import { apiPath } from "../../kube/api_path.ts";
import { ApiError, type KubeApi, type KubeObject } from "../../kube/client/mod.ts";
import type { ClusterChoice, InjectionSnapshot, Unreadable } from "../../inject/mod.ts";

const COLLECTIONS: Readonly<Record<string, string>> = {
  ConfigMap: "configmaps",
  Namespace: "namespaces",
  MutatingWebhookConfiguration: "mutatingwebhookconfigurations",
  Node: "nodes",
};

/** A snapshot in place of a cluster. */
export interface SnapshotCluster {
  readonly api: KubeApi;
  /** The names of the control plane's objects. */
  readonly choice: ClusterChoice;
  readonly snapshot: InjectionSnapshot;
}

export function snapshotCluster(snapshot: InjectionSnapshot, file: string): SnapshotCluster {
  const { istioNamespace, injectConfigMapName, meshConfigMapName } = snapshot.controlPlane;
  const choice = { istioNamespace, injectConfigMapName, meshConfigMapName };
  return { api: snapshotApi(snapshot, file), choice, snapshot };
}

/** Returns a read-only API of a snapshot. Its unreadable parts return status 403. `file` is the name in messages. */
export function snapshotApi(snapshot: InjectionSnapshot, file: string): KubeApi {
  const objects = [...snapshot.objects, ...nodesIn(snapshot)];
  const refuse = (path: string) => {
    const missing = snapshot.unreadable.find((each) => isIn(path, each));
    if (missing !== undefined) {
      throw new ApiError(`The snapshot was taken without the right ${missing.needs}`, { status: 403 });
    }
  };
  const refused = () => Promise.reject(new ApiError("A snapshot cannot be changed"));
  return {
    server: `"${file}"`,
    get: async (path) => {
      const found = objects.find((object) => pathOf(object, object.metadata.name) === path);
      if (found === undefined) await refuse(path);
      return found;
    },
    list: async (path, _query, keep = (object) => object) => {
      await refuse(path);
      return { items: objects.filter((object) => pathOf(object) === path).map(keep), resourceVersion: "" };
    },
    create: refused,
    replace: refused,
    patch: refused,
    remove: refused,
    watch: () => {
      throw new ApiError("A snapshot cannot be watched");
    },
  };
}

/** Returns the nodes of a snapshot. For a snapshot without node names, returns one node for each kubelet version. */
function nodesIn({ kubeletVersions = [] }: InjectionSnapshot): readonly KubeObject[] {
  const versions = Array.isArray(kubeletVersions)
    ? kubeletVersions.map((version) => [version, version] as const)
    : Object.entries(kubeletVersions);
  return versions.map(([name, kubeletVersion]) => {
    return { apiVersion: "v1", kind: "Node", metadata: { name }, status: { nodeInfo: { kubeletVersion } } };
  });
}

function pathOf({ kind, metadata: { namespace } }: KubeObject, name?: string): string {
  return pathIn(COLLECTIONS[kind] ?? "", namespace, name);
}

function pathIn(resource: string, namespace: string | undefined, name?: string): string {
  const isWebhook = resource === COLLECTIONS["MutatingWebhookConfiguration"];
  return apiPath(isWebhook ? "apis/admissionregistration.k8s.io/v1" : "api/v1", resource, namespace, name);
}

/** Whether a path belongs to an unreadable part: a collection with its objects, or a single object. */
function isIn(path: string, { resource, namespace, name }: Unreadable): boolean {
  const folder = pathIn(resource, namespace);
  if (name !== undefined) return path === pathIn(resource, namespace, name);
  return path === folder || (path.startsWith(`${folder}/`) && !path.slice(folder.length + 1).includes("/"));
}
