/** A snapshot of a cluster that answers as the cluster did. */
import { ApiError, type KubeApi, type KubeObject } from "../../kube/client/mod.ts";
import type { InjectionSnapshot, Unreadable } from "../../inject/mod.ts";

/** Where the objects of a kind are. */
const COLLECTIONS: Readonly<Record<string, string>> = {
  ConfigMap: "configmaps",
  Namespace: "namespaces",
  MutatingWebhookConfiguration: "mutatingwebhookconfigurations",
  Node: "nodes",
};

/** The API of a snapshot: `get` and `list`. What could not be read is forbidden (403); `file` is its name. */
export function snapshotApi(snapshot: InjectionSnapshot, file: string): KubeApi {
  const objects = [...snapshot.objects, ...nodesIn(snapshot)];
  const refuse = (path: string) => {
    const missing = snapshot.unreadable.find((each) => isIn(path, each));
    if (missing !== undefined) throw new ApiError(`The snapshot has no right: ${missing.needs}`, { status: 403 });
  };
  const refused = () => Promise.reject(new ApiError("A snapshot cannot be changed"));
  return {
    server: `"${file}"`,
    get: async (path) => {
      const found = objects.find((object) => `${collectionOf(object)}/${nameOf(object)}` === path);
      if (found === undefined) await refuse(path);
      return found;
    },
    list: async (path, _query, keep = (object) => object) => {
      await refuse(path);
      return { items: objects.filter((object) => collectionOf(object) === path).map(keep), resourceVersion: "" };
    },
    create: refused,
    replace: refused,
    patch: refused,
    remove: refused,
    watch: () => {
      throw new ApiError("A snapshot does not change");
    },
  };
}

/** If all kubelets decide alike, node names do not matter. */
function nodesIn({ kubeletVersions = [] }: InjectionSnapshot): readonly KubeObject[] {
  const versions = Array.isArray(kubeletVersions)
    ? kubeletVersions.map((version) => [version, version] as const)
    : Object.entries(kubeletVersions);
  return versions.map(([name, kubeletVersion]) => {
    return { apiVersion: "v1", kind: "Node", metadata: { name }, status: { nodeInfo: { kubeletVersion } } };
  });
}

function collectionOf({ kind, metadata: { namespace } }: KubeObject): string {
  return collection(COLLECTIONS[kind] ?? "", namespace);
}

function collection(resource: string, namespace: string | undefined): string {
  if (resource === COLLECTIONS["MutatingWebhookConfiguration"]) {
    return `/apis/admissionregistration.k8s.io/v1/${resource}`;
  }
  return namespace === undefined
    ? `/api/v1/${resource}`
    : `/api/v1/namespaces/${encodeURIComponent(namespace)}/${resource}`;
}

function nameOf({ metadata: { name } }: KubeObject): string {
  return encodeURIComponent(name);
}

/** Whether a path names the collection, one of its objects, or the named object. */
function isIn(path: string, { resource, namespace, name }: Unreadable): boolean {
  const folder = collection(resource, namespace);
  if (name !== undefined) return path === `${folder}/${encodeURIComponent(name)}`;
  return path === folder || (path.startsWith(`${folder}/`) && !path.slice(folder.length + 1).includes("/"));
}
