/** Where the inventory comes from. */
import {
  ApiError,
  type ExecRequest,
  type ExecResult,
  type Guard,
  type Keep,
  type KubeApi,
  type KubeObject,
  ofKind,
  type Query,
  type RawAnswer,
} from "../../kube/client/mod.ts";
import { selectorMatches } from "../../kube/text/selector.ts";
import { selectorExpressions } from "../../kube/text/selector_text.ts";
import type { ValueMap } from "../../base/value.ts";
import type { World } from "../../platform/mod.ts";
import { observe, type Observed } from "./observed.ts";

/** The part of the cluster to check. */
export interface Scope {
  /** The namespace of workloads; `undefined` is all of them. */
  readonly namespace: string | undefined;
  /** The namespace of the control plane. */
  readonly istioNamespace: string;
  /** Only this revision of the control plane; `undefined` is all of them. */
  readonly revision: string | undefined;
  /** Only workloads and namespaces with these labels. */
  readonly selector?: LabelChoice | undefined;
}

export interface LabelChoice {
  /** `app=web,tier!=x`. */
  readonly text: string;
  readonly matchExpressions: readonly ValueMap[];
}

/** Reads `-l`; `flag` is for errors. Errors: a UsageError that names the invalid part. */
export function labelChoice(text: string, flag: string): LabelChoice {
  return { text, matchExpressions: selectorExpressions(text, flag) };
}

/** Whether an object with these labels is chosen. */
export function isChosen(labels: ValueMap, selector: LabelChoice | undefined): boolean {
  return selector === undefined ||
    selectorMatches({ matchExpressions: [...selector.matchExpressions] }, labels).matches;
}

/** The query that lists what is chosen. */
export function queryOf(selector: LabelChoice | undefined): Query {
  return selector === undefined ? {} : { labelSelector: selector.text };
}

/** Whether a scope has all pods of the cluster. */
export function hasAllPods({ namespace, selector }: Scope): boolean {
  return namespace === undefined && selector === undefined;
}

/** The API, with the requests that only checks make. */
export interface CheckApi extends KubeApi {
  raw(path: string): Promise<RawAnswer>;
  exec(request: ExecRequest): Promise<ExecResult>;
}

export interface Source {
  readonly api: CheckApi;
  readonly clock: World["clock"];
  readonly scope: Scope;
}

/**
 * The objects of a collection, such as `apis/apps/v1` and `deployments`; none of a kind that the server does not know.
 */
export function listOf<T extends KubeObject>(
  { api }: { readonly api: Pick<KubeApi, "list"> },
  group: string,
  resource: string,
  { isKind, namespace, query, keep }: Listing<T>,
): Promise<Observed<readonly T[]>> {
  const where = namespace === undefined ? "" : ` in the namespace "${namespace}"`;
  return observe(`list on ${resource}${where}`, async () => {
    try {
      const { items } = await api.list(collectionPath(group, resource, namespace), query, keep);
      return items.filter(isKind);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return [];
      throw error;
    }
  });
}

/** The path of a collection: of the whole cluster, or of a namespace. */
export function collectionPath(group: string, resource: string, namespace: string | undefined): string {
  const folder = namespace === undefined ? "" : `namespaces/${encodeURIComponent(namespace)}/`;
  return `/${group}/${folder}${resource}`;
}

export interface Listing<T extends KubeObject> {
  readonly isKind: Guard<T>;
  readonly namespace?: string | undefined;
  readonly query?: Query;
  /** Returns the part of each object that stays in memory. */
  readonly keep?: Keep;
}

/** One object of a namespace; `undefined` if it does not exist. */
export function objectOf<T extends KubeObject>(
  { api }: { readonly api: Pick<KubeApi, "get"> },
  [group, resource]: readonly [group: string, resource: string],
  isKind: Guard<T>,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<Observed<T | undefined>> {
  const path = `/${group}/namespaces/${encodeURIComponent(namespace)}/${resource}/${encodeURIComponent(name)}`;
  return observe(`get on ${resource} in the namespace "${namespace}"`, async () => ofKind(await api.get(path), isKind));
}
