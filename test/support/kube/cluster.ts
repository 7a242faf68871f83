import { ApiError, type ExecResult, type KubeList, type KubeObject, type Query } from "../../../src/kube/client/mod.ts";
import { isMap, type Value } from "../../../src/base/value.ts";
import { type CheckApi, type Inventory, inventoryOf, type Scope } from "../../../src/check/inventory/mod.ts";

/** The content and the responses of a read-only cluster in memory, for checks. */
export interface ClusterOptions {
  readonly objects?: readonly KubeObject[];
  /** Paths that the user may not read (403). */
  readonly forbidden?: RegExp;
  /** Responses of `raw`, by path. All other paths are not found. */
  readonly raw?: Readonly<Record<string, Value>>;
  /** The Date header of `raw`. */
  readonly date?: string;
  /** Responds to a request that creates a pod with `dryRun=All`; by default with the pod itself. */
  readonly dryRun?: (namespace: string, pod: object) => KubeObject | Promise<KubeObject>;
  /** Runs a command in a pod; by default, the pod's proxy does not respond. */
  readonly exec?: (pod: string) => ExecResult;
  /** Rights that the user does not have, such as `create pods`. */
  readonly denied?: RegExp;
  /** Makes requests fail: returns the error for a path, or `undefined`. */
  readonly failing?: (path: string) => Error | undefined;
}

/** Every user may ask for their own permissions. */
export const ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/** Returns the API of a cluster in memory, and records its requests. */
export function clusterApi(options: ClusterOptions): CheckApi & { readonly requests: string[] } {
  const requests: string[] = [];
  const arrive = (verb: string, path: string) => {
    requests.push(`${verb} ${path}`);
    const error = options.failing?.(path);
    if (error !== undefined) throw error;
    if (options.forbidden?.test(path)) throw new ApiError("The server denied the request", { status: 403 });
  };
  const objects = options.objects ?? [];
  const refused = () => Promise.reject(new Error("Checks may not write"));
  return {
    server: "https://cluster.test",
    requests,
    get: async (path) => {
      await arrive("get", path);
      return objects.find((object) => pathOf(object) === path);
    },
    list: async (path, query = {}, keep = (object) => object) => {
      // The API server authorizes a list with a name as a request for that object.
      const name = nameIn(query);
      await arrive("list", name === undefined ? path : `${path}/${name}`);
      const { items, resourceVersion } = listed(objects, path, query);
      return { items: items.map(keep), resourceVersion };
    },
    create: async (path, body) => {
      await arrive("create", path);
      if (path === ACCESS_REVIEWS) {
        const allowed = options.denied?.test(resourceIn(body)) !== true;
        return object("v1", "Review", "", { status: { allowed } });
      }
      const [, namespace = "", query = ""] = /^\/api\/v1\/namespaces\/([^/]+)\/pods\?(.*)$/.exec(path) ?? [];
      if (!query.includes("dryRun=All")) return refused();
      return await (options.dryRun ?? ((_namespace, pod) => asObject(pod)))(namespace, body);
    },
    raw: async (path) => {
      await arrive("raw", path);
      const value = options.raw?.[path];
      if (value === undefined) throw new ApiError(`There is no "${path}"`, { status: 404 });
      return { value, date: options.date };
    },
    exec: async ({ namespace, pod }) => {
      for (const verb of ["get", "create"]) await arrive(verb, `/api/v1/namespaces/${namespace}/pods/${pod}/exec`);
      return options.exec?.(pod) ?? { code: 1, stdout: new Uint8Array(), stderr: "connection refused" };
    },
    replace: refused,
    patch: refused,
    remove: refused,
    watch: () => {
      throw new Error("Checks may not watch");
    },
  };
}

/** Returns the inventory of a cluster in memory at a given time. */
export function clusterInventory(options: ClusterOptions, scope: Partial<Scope> = {}, now = new Date()): Inventory {
  const clock = { now: () => now, monotonic: () => 0, sleep: () => Promise.resolve() };
  const whole = { namespace: undefined, istioNamespace: "istio-system", revision: undefined, ...scope };
  return inventoryOf({ api: clusterApi(options), clock, scope: whole });
}

/** Makes an API object; `name` is `namespace/name` or `name`. */
export function object(apiVersion: string, kind: string, name: string, rest: Record<string, Value> = {}): KubeObject {
  const { metadata, ...others } = rest;
  const [first = "", second] = name.split("/");
  const named = second === undefined ? { name: first } : { namespace: first, name: second };
  return { apiVersion, kind, ...others, metadata: { ...(isMap(metadata) ? metadata : {}), ...named } };
}

/** Returns the verb and the resource in an access review: `create clusterroles`. */
function resourceIn(review: object): string {
  const { spec = {} }: { spec?: { resourceAttributes?: { verb?: string; resource?: string } } } = { ...review };
  return `${spec.resourceAttributes?.verb} ${spec.resourceAttributes?.resource}`;
}

function asObject(pod: object): KubeObject {
  const { metadata, ...rest }: { metadata?: object } = { ...pod };
  return { apiVersion: "v1", kind: "Pod", ...rest, metadata: { name: "made", ...metadata } };
}

/** Returns the path of a kind: `/api/v1/` and the plural. */
function collectionOf({ apiVersion, kind }: KubeObject): readonly [group: string, plural: string] {
  const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const small = kind.toLowerCase();
  if (small === "endpoints") return [group, small];
  return [
    group,
    /(s|x|ch)$/.test(small) ? `${small}es` : /[^aeiou]y$/.test(small) ? `${small.slice(0, -1)}ies` : `${small}s`,
  ];
}

function pathOf(object: KubeObject): string {
  const [group, plural] = collectionOf(object);
  const { namespace, name } = object.metadata;
  return namespace === undefined ? `${group}/${plural}/${name}` : `${group}/namespaces/${namespace}/${plural}/${name}`;
}

function nameIn({ fieldSelector = "" }: Query): string | undefined {
  return /^metadata\.name=(.+)$/.exec(fieldSelector)?.[1];
}

function listed(objects: readonly KubeObject[], path: string, query: Query): KubeList {
  const wanted = (query["labelSelector"] ?? "").split(",").filter(Boolean).map((pair) => pair.split("="));
  const items = objects.filter((object) => {
    const [group, plural] = collectionOf(object);
    const { namespace, labels } = object.metadata;
    const isThere = path === `${group}/${plural}` || path === `${group}/namespaces/${namespace}/${plural}`;
    const isNamed = [object.metadata.name, undefined].includes(nameIn(query));
    return isThere && isNamed && wanted.every(([key = "", value]) => Object(labels)[key] === value);
  });
  return { items, resourceVersion: "1" };
}
