/** Objects of an API server by HTTP, because a kubectl for each takes ten times the processor time. */
import { isMap, mapAt, type Value, type ValueMap } from "../../../../src/base/value.ts";
import { TOKEN } from "./api_server.ts";

/** What requests need of a cluster. */
export interface Server {
  readonly url: string;
  /** A client that trusts the server and keeps connections: a new connection takes longer than a request. */
  readonly http: Deno.HttpClient;
}

/** Options of a request, as in its URL. */
export type Query = Readonly<Record<string, string>>;

/** Applies an object like `kubectl apply --server-side --force-conflicts`; unknown fields are errors. */
export function applied(cluster: Server, object: ValueMap): Promise<ValueMap> {
  return send(cluster, object, "PATCH", { fieldManager: "kubectl", force: "true" });
}

/** Creates an object like `kubectl create`; unknown fields are errors. Returns the object of the cluster. */
export function created(cluster: Server, object: ValueMap, query: Query = {}): Promise<ValueMap> {
  return send(cluster, object, "POST", { fieldManager: "kubectl-create", ...query });
}

/** The object that the server would create, by a dry run, or the reason why the server refuses it. */
export async function tried(cluster: Server, object: ValueMap): Promise<{ made?: ValueMap; refusal: string }> {
  try {
    return { made: await created(cluster, object, { dryRun: "All" }), refusal: "" };
  } catch (error) {
    return { refusal: error instanceof Error ? error.message : String(error) };
  }
}

/** Whether a user has a right, as `kubectl auth can-i` says; `right` has the names of `resourceAttributes`. */
export async function allowed(
  cluster: Server,
  { user, groups = [] }: { readonly user: string; readonly groups?: readonly string[] },
  right: ValueMap,
): Promise<boolean> {
  const spec = { user, groups: [...groups, "system:authenticated"], resourceAttributes: right };
  const object = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", metadata: {}, spec };
  return mapAt(await created(cluster, object), "status")["allowed"] === true;
}

/** Sets fields of the status of an object that exists, as a kubelet or a controller does. */
export function reported(cluster: Server, object: ValueMap, status: Value): Promise<void> {
  return merged(cluster, object, { status }, "/status");
}

/** Changes the fields that a patch has; `null` removes a field. */
export async function merged(cluster: Server, object: ValueMap, patch: Value, subresource = ""): Promise<void> {
  const path = `${await pathOf(cluster, object)}/${metadataOf(object).name}${subresource}`;
  const headers = { ...ADMINISTRATOR, "content-type": "application/merge-patch+json" };
  const body = JSON.stringify(patch, withoutBigints);
  await read(
    await fetch(`${cluster.url}${path}`, { client: cluster.http, method: "PATCH", body, headers }),
    `PATCH ${path}`,
  );
}

function withoutBigints(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}

/** Deletes an object immediately: there is neither a kubelet nor a controller. */
export async function removed(cluster: Server, object: ValueMap): Promise<void> {
  const path = `${await pathOf(cluster, object)}/${metadataOf(object).name}`;
  const url = `${cluster.url}${path}?gracePeriodSeconds=0&propagationPolicy=Background`;
  await read(await fetch(url, { client: cluster.http, method: "DELETE", headers: ADMINISTRATOR }), `DELETE ${path}`);
}

/** A namespace for pods. The API server requires their service account, which no controller creates here. */
export async function createNamespace(
  cluster: Server,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  await created(cluster, { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
  await addServiceAccount(cluster, name);
}

/** Adds the service account of pods that name none. */
export async function addServiceAccount(cluster: Server, namespace: string): Promise<void> {
  await applied(cluster, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } });
}

/** An object as the cluster has it. */
export async function current(cluster: Server, object: ValueMap): Promise<ValueMap> {
  return await got(cluster, `${await pathOf(cluster, object)}/${metadataOf(object).name}`);
}

/**
 * Reads an object or a list. A server may close a kept connection during a request: the request is repeated once, as
 * client-go repeats a GET.
 */
export async function got(cluster: Server, path: string): Promise<ValueMap> {
  const send = () => fetch(`${cluster.url}${path}`, { client: cluster.http, headers: ADMINISTRATOR });
  return await read(await send().catch(send), path);
}

async function send(cluster: Server, object: ValueMap, method: "POST" | "PATCH", query: Query): Promise<ValueMap> {
  const path = await pathOf(cluster, object) + (method === "PATCH" ? `/${metadataOf(object).name}` : "");
  const answer = await fetch(`${cluster.url}${path}?${new URLSearchParams({ fieldValidation: "Strict", ...query })}`, {
    client: cluster.http,
    method,
    body: JSON.stringify(object),
    headers: {
      ...ADMINISTRATOR,
      "content-type": method === "PATCH" ? "application/apply-patch+yaml" : "application/json",
    },
  });
  return await read(answer, `${method} ${path}`);
}

const ADMINISTRATOR = { authorization: `Bearer ${TOKEN}` };

async function read(answer: Response, asked: string): Promise<ValueMap> {
  const body: Value = await answer.json();
  if (!isMap(body)) throw new Error(`${asked}: no object`);
  if (!answer.ok) throw new Error(`${asked}: ${body["message"]}`);
  return body;
}

function metadataOf(object: ValueMap): { name: Value | undefined; namespace: Value | undefined } {
  const { metadata } = object;
  return { name: isMap(metadata) ? metadata["name"] : "", namespace: isMap(metadata) ? metadata["namespace"] : "" };
}

/** The kinds of groups, as servers have listed them. */
const KINDS = new WeakMap<Server, Map<string, readonly ValueMap[]>>();

/** The path of the collection of an object, as the server names it. */
async function pathOf(cluster: Server, object: ValueMap): Promise<string> {
  const { apiVersion, kind } = object;
  const group = `${String(apiVersion).includes("/") ? "/apis" : "/api"}/${apiVersion}`;
  const known = KINDS.get(cluster) ?? new Map<string, readonly ValueMap[]>();
  KINDS.set(cluster, known);
  const find = () => known.get(group)?.find((each) => each["kind"] === kind && !String(each["name"]).includes("/"));
  if (find() === undefined) {
    const { resources } = await got(cluster, group);
    known.set(group, (Array.isArray(resources) ? resources : []).filter(isMap));
  }
  const found = find();
  if (found === undefined) throw new Error(`The server has no ${kind} of ${apiVersion}`);
  const { namespace = "default" } = metadataOf(object);
  return `${group}/${found["namespaced"] === true ? `namespaces/${namespace}/` : ""}${found["name"]}`;
}
