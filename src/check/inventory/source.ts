/** What facts are made from. */
import { ApiError, type KubeApi, type KubeObject, type Query, type RawAnswer } from "../../core/kube/client/mod.ts";
import type { World } from "../../core/world/mod.ts";
import { observe } from "./observed.ts";

/** What of the cluster is looked at. */
export interface Scope {
  /** The namespace of workloads; `undefined` is all of them. */
  readonly namespace: string | undefined;
  /** The namespace of the control plane. */
  readonly istioNamespace: string;
  /** Only this revision of the control plane; `undefined` is all of them. */
  readonly revision: string | undefined;
}

/** The API, and what only checks ask of it. */
export interface CheckApi extends KubeApi {
  /** Whatever JSON is at a path. */
  raw(path: string): Promise<RawAnswer>;
}

/** What the groups of getters share. */
export interface Source {
  readonly api: CheckApi;
  readonly clock: World["clock"];
  readonly scope: Scope;
}

/**
 * A collection of the whole cluster or, with a namespace, of that. `resource` is its plural, such as `pods`, `group` is
 * `api/v1` or `apis/apps/v1`. Of a kind that the server does not know there is none.
 */
export function listOf({ api }: Source, group: string, resource: string, options: Listing = {}) {
  const { namespace } = options;
  const folder = namespace === undefined ? "" : `namespaces/${encodeURIComponent(namespace)}/`;
  const where = namespace === undefined ? "" : ` in the namespace "${namespace}"`;
  return observe<readonly KubeObject[]>(
    `list on ${resource}${where}`,
    () => items(api, `/${group}/${folder}${resource}`, options),
  );
}

async function items(api: CheckApi, path: string, { query, keep }: Listing): Promise<readonly KubeObject[]> {
  try {
    return (await api.list(path, query, keep)).items;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}

/** What of a collection is wanted. */
export interface Listing {
  readonly namespace?: string | undefined;
  readonly query?: Query;
  /** What stays of each object. */
  readonly keep?: (object: KubeObject) => KubeObject;
}

/** One object of a namespace; `undefined` if it is not there. */
export function objectOf(
  source: { readonly api: Pick<KubeApi, "get"> },
  group: string,
  resource: string,
  name: { namespace: string; name: string },
) {
  const { namespace } = name;
  const path = `/${group}/namespaces/${encodeURIComponent(namespace)}/${resource}/${encodeURIComponent(name.name)}`;
  return observe<KubeObject | undefined>(
    `get on ${resource} in the namespace "${namespace}"`,
    () => source.api.get(path),
  );
}
