/** Defines the cluster and the scope that the inventory reads. */
import { apiPath } from "../../kube/api_path.ts";
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
import { MeshError } from "../../base/errors.ts";
import { selectorMatches } from "../../kube/text/selector.ts";
import { selectorExpressions } from "../../kube/text/selector_text.ts";
import type { ValueMap } from "../../base/value.ts";
import type { World } from "../../platform/mod.ts";
import { observe, type Observed } from "./observed.ts";

/** The part of the cluster to check. */
export interface Scope {
  /** The namespace of workloads; `undefined` means all namespaces. */
  readonly namespace: string | undefined;
  /** The namespace of the control plane. */
  readonly istioNamespace: string;
  /** The revision of the control plane; `undefined` means all revisions. */
  readonly revision: string | undefined;
  /** Limits the checks to workloads and namespaces with these labels. */
  readonly selector?: LabelChoice | undefined;
}

export interface LabelChoice {
  /** The selector as text: `app=web,tier!=x`. */
  readonly text: string;
  readonly matchExpressions: readonly ValueMap[];
}

/** Parses a label selector. `flag` is the flag's name for messages. Throws a UsageError that names the invalid part. */
export function labelChoice(text: string, flag: string): LabelChoice {
  return { text, matchExpressions: selectorExpressions(text, flag) };
}

export function isChosen(labels: ValueMap, selector: LabelChoice | undefined): boolean {
  return selector === undefined ||
    selectorMatches({ matchExpressions: [...selector.matchExpressions] }, labels).matches;
}

/** Returns the query of a list request for the selected objects. */
export function queryOf(selector: LabelChoice | undefined): Query {
  return selector === undefined ? {} : { labelSelector: selector.text };
}

/** Whether a scope contains all pods of the cluster. */
export function hasAllPods({ namespace, selector }: Scope): boolean {
  return namespace === undefined && selector === undefined;
}

/** The API client, with requests that only checks make. */
export interface CheckApi extends KubeApi {
  raw(path: string): Promise<RawAnswer>;
  exec(request: ExecRequest): Promise<ExecResult>;
}

export interface Source {
  readonly api: CheckApi;
  readonly clock: World["clock"];
  readonly scope: Scope;
  /** The server from --server; `undefined` without the flag. */
  readonly serverFlag?: string | undefined;
}

/** Lists a collection, such as `apis/apps/v1` and `deployments`. Empty if the server does not know the kind. */
export function listOf<T extends KubeObject>(
  { api }: { readonly api: Pick<KubeApi, "list"> },
  group: string,
  resource: string,
  { isKind, namespace, query, keep }: Listing<T>,
): Promise<Observed<readonly T[]>> {
  const where = namespace === undefined ? "" : ` in the namespace "${namespace}"`;
  return observe(`list on ${resource}${where}`, async () => {
    try {
      const { items } = await api.list(apiPath(group, resource, namespace), query, keep);
      return items.filter(isKind);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return [];
      throw error;
    }
  });
}

export interface Listing<T extends KubeObject> {
  readonly isKind: Guard<T>;
  readonly namespace?: string | undefined;
  readonly query?: Query;
  /** Returns the part of each object to keep in memory. */
  readonly keep?: Keep;
}

/** The namespace and the name of an object. */
export interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** Reads an object of a namespace; `undefined` if the object does not exist. */
export function objectOf<T extends KubeObject>(
  { api }: { readonly api: Pick<KubeApi, "get"> },
  [group, resource]: readonly [group: string, resource: string],
  isKind: Guard<T>,
  { namespace, name }: Place,
): Promise<Observed<T | undefined>> {
  const path = apiPath(group, resource, namespace, name);
  return observe(`get on ${resource} in the namespace "${namespace}"`, async () => ofKind(await api.get(path), isKind));
}

/** Whether a namespace exists. True if this is unknown, because other requests then report the cause. */
export async function hasNamespace(api: Pick<KubeApi, "get">, name: string | undefined): Promise<boolean> {
  if (name === undefined) return true;
  try {
    return await api.get(apiPath("api/v1", "namespaces", undefined, name)) !== undefined;
  } catch (error) {
    if (error instanceof MeshError) return true;
    throw error;
  }
}

export function noNamespace(name = ""): MeshError {
  return new MeshError(`There is no namespace "${name}"`, { hint: "see --namespace" });
}
