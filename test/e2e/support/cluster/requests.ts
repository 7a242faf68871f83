/** Objects of an API server by HTTP: a kubectl for each takes ten times the processor time. */
import { isMap, type Value, type ValueMap } from "../../../../src/core/value.ts";
import type { Cluster } from "./cluster.ts";
import { TOKEN } from "./api_server.ts";

/** Options of a request, as in its URL. */
export type Query = Readonly<Record<string, string>>;

/** Applies an object like `kubectl apply --server-side --force-conflicts`; unknown fields are errors. */
export function applied(cluster: Cluster, object: ValueMap): Promise<ValueMap> {
  return send(cluster, object, "PATCH", { fieldManager: "kubectl", force: "true" });
}

/** Creates an object like `kubectl create`; unknown fields are errors. Returns it as the cluster has it. */
export function created(cluster: Cluster, object: ValueMap, query: Query = {}): Promise<ValueMap> {
  return send(cluster, object, "POST", { fieldManager: "kubectl-create", ...query });
}

/** Reads an object or a list. */
export async function got(cluster: Cluster, path: string): Promise<ValueMap> {
  using client = Deno.createHttpClient({ caCerts: [await cluster.authority()] });
  return await read(await fetch(`${cluster.url}${path}`, { client, headers: ADMINISTRATOR }), path);
}

async function send(cluster: Cluster, object: ValueMap, method: "POST" | "PATCH", query: Query): Promise<ValueMap> {
  using client = Deno.createHttpClient({ caCerts: [await cluster.authority()] });
  const path = await pathOf(cluster, client, object) + (method === "PATCH" ? `/${metadataOf(object).name}` : "");
  const answer = await fetch(`${cluster.url}${path}?${new URLSearchParams({ fieldValidation: "Strict", ...query })}`, {
    client,
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

/** The path of the collection of an object, as the server tells. */
async function pathOf(cluster: Cluster, client: Deno.HttpClient, object: ValueMap): Promise<string> {
  const { apiVersion, kind } = object;
  const group = `${String(apiVersion).includes("/") ? "/apis" : "/api"}/${apiVersion}`;
  const { resources } = await read(await fetch(`${cluster.url}${group}`, { client, headers: ADMINISTRATOR }), group);
  const found = (Array.isArray(resources) ? resources : []).filter(isMap)
    .find((each) => each["kind"] === kind && !String(each["name"]).includes("/"));
  if (found === undefined) throw new Error(`The server has no ${kind} of ${apiVersion}`);
  const { namespace = "default" } = metadataOf(object);
  return `${group}/${found["namespaced"] === true ? `namespaces/${namespace}/` : ""}${found["name"]}`;
}
