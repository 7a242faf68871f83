import { ApiError, ConflictError, type KubeApi, type KubeObject } from "../../../src/kube/client/api.ts";
import type { PatchType, Query, WatchEvent, WatchOptions } from "../../../src/kube/client/api.ts";
import { isMap, type Value } from "../../../src/base/value.ts";

/** A request: `patch /api/v1/...`. */
export type Request = `${"get" | "list" | "create" | "replace" | "patch" | "remove"} ${string}`;

interface Watcher {
  readonly collection: string;
  readonly name: string | undefined;
  readonly notify: (event: WatchEvent) => void;
  readonly options: WatchOptions;
}

/**
 * An API server in memory, with resource versions and conflicts. The path of an object consists of its collection and
 * its name. Requests are asynchronous, so that requests from several clients interleave.
 */
export class MemoryApi implements KubeApi {
  readonly server = "memory";
  /** The requests so far. */
  readonly requests: Request[] = [];
  /** Makes requests fail: returns the error for a request, or `undefined`. */
  failing: (request: Request) => Error | undefined = () => undefined;
  readonly #objects = new Map<string, KubeObject>();
  readonly #watchers = new Set<Watcher>();
  #version = 0;

  /** Writes an object, as if another client did it. */
  put(path: string, body: object): KubeObject {
    const type = this.#objects.has(path) ? "MODIFIED" : "ADDED";
    const stored = asObject(body, String(++this.#version));
    this.#objects.set(path, stored);
    this.#notifyAll(type, path, stored);
    return structuredClone(stored);
  }

  /** Returns the object at a path. */
  at(path: string): KubeObject | undefined {
    return structuredClone(this.#objects.get(path));
  }

  async get(path: string): Promise<KubeObject | undefined> {
    await this.#arrive(`get ${path}`);
    return this.at(path);
  }

  async list(path: string, query: Query = {}) {
    await this.#arrive(`list ${path}`);
    return { items: this.#selected(path, query), resourceVersion: String(this.#version) };
  }

  async create(path: string, body: object): Promise<KubeObject> {
    await this.#arrive(`create ${path}`);
    const own = `${path}/${asObject(body).metadata.name}`;
    if (this.#objects.has(own)) throw new ConflictError(`"${own}" is there already`, { status: 409 });
    return this.put(own, body);
  }

  async replace(path: string, body: object): Promise<KubeObject> {
    await this.#arrive(`replace ${path}`);
    const old = this.#present(path).metadata.resourceVersion;
    const { resourceVersion = old } = asObject(body).metadata;
    if (resourceVersion !== old) throw new ConflictError(`"${path}" has changed`, { status: 409 });
    return this.put(path, body);
  }

  async patch(path: string, type: PatchType, body: object): Promise<KubeObject> {
    await this.#arrive(`patch ${path}`);
    if (type !== "json" || !Array.isArray(body)) throw new ApiError("This API knows JSON patches alone");
    const patched = structuredClone(this.#present(path));
    for (const operation of body) applyOperation(patched, operation);
    return this.put(path, patched);
  }

  async remove(path: string): Promise<boolean> {
    await this.#arrive(`remove ${path}`);
    const object = this.#objects.get(path);
    if (object === undefined) return false;
    this.#objects.delete(path);
    this.#notifyAll("DELETED", path, object);
    return true;
  }

  watch(path: string, query: Query, signal: AbortSignal, options: WatchOptions = {}): AsyncGenerator<WatchEvent> {
    const waiting = this.#selected(path, query).map((object): WatchEvent => ({ type: "ADDED", object }));
    return eventsOf(this.#watchers, { collection: path, name: nameIn(query), options }, waiting, signal);
  }

  /** Makes watches fail with an error; `undefined` makes them work again. */
  interrupt(error: ApiError | undefined): void {
    for (const { options } of this.#watchers) {
      if (error === undefined) options.synced?.();
      else options.failed?.(error);
    }
  }

  #selected(path: string, query: Query): KubeObject[] {
    const asked = { collection: path, name: nameIn(query) };
    return [...this.#objects].filter(([each]) => selects(asked, each)).map(([, object]) => structuredClone(object));
  }

  #notifyAll(type: WatchEvent["type"], path: string, object: KubeObject): void {
    for (const watcher of this.#watchers) {
      if (selects(watcher, path)) watcher.notify({ type, object: structuredClone(object) });
    }
  }

  async #arrive(request: Request): Promise<void> {
    this.requests.push(request);
    await new Promise((resolve) => setTimeout(resolve, 0));
    const error = this.failing(request);
    if (error !== undefined) throw error;
  }

  #present(path: string): KubeObject {
    const object = this.#objects.get(path);
    if (object === undefined) throw new ApiError(`There is no "${path}"`, { status: 404 });
    return object;
  }
}

async function* eventsOf(
  watchers: Set<Watcher>,
  watched: Omit<Watcher, "notify">,
  waiting: WatchEvent[],
  signal: AbortSignal,
): AsyncGenerator<WatchEvent> {
  let wake = () => {};
  const watcher: Watcher = {
    ...watched,
    notify: (event) => {
      waiting.push(event);
      wake();
    },
  };
  watchers.add(watcher);
  const stop = () => wake();
  signal.addEventListener("abort", stop);
  let isSynced = false;
  try {
    while (!signal.aborted) {
      const event = waiting.shift();
      if (event === undefined && !isSynced) {
        isSynced = true;
        watched.options.synced?.();
      }
      if (event !== undefined) yield event;
      else await new Promise<void>((resolve) => wake = resolve);
    }
  } finally {
    watchers.delete(watcher);
    signal.removeEventListener("abort", stop);
  }
}

function selects({ collection, name }: Pick<Watcher, "collection" | "name">, path: string): boolean {
  const own = path.startsWith(`${collection}/`) ? path.slice(collection.length + 1) : "/";
  return !own.includes("/") && (name === undefined || name === own);
}

function nameIn(query: Query): string | undefined {
  return /^metadata\.name=(.+)$/.exec(query["fieldSelector"] ?? "")?.[1];
}

/** Copies an object, with a new resource version if one is given. */
function asObject(body: object, version?: string): KubeObject {
  const { apiVersion, kind, metadata, ...rest } = Object.assign<Record<string, Value>, object>(
    {},
    structuredClone(body),
  );
  if (typeof apiVersion !== "string" || typeof kind !== "string" || !isMap(metadata)) throw new ApiError("No object");
  const { name } = metadata;
  if (typeof name !== "string") throw new ApiError("An object without a name");
  const versioned = version === undefined ? {} : { resourceVersion: version };
  return { apiVersion, kind, metadata: { ...metadata, name, ...versioned }, ...rest };
}

/** Applies `test`, `add` or `replace` (RFC 6902) to a member of a mapping. */
function applyOperation(object: object, operation: Record<string, unknown>): void {
  const keys = String(operation["path"]).split("/").slice(1).map((key) => key.replace("~1", "/").replace("~0", "~"));
  const last = keys.pop() ?? "";
  let at: unknown = object;
  for (const key of keys) at = memberOf(at, key);
  if (operation["op"] === "test" && memberOf(at, last) !== operation["value"]) {
    throw new ApiError(`The test of "${operation["path"]}" failed`, { status: 422 });
  }
  if (operation["op"] !== "test" && isMap(at)) Object.assign(at, { [last]: operation["value"] });
}

function memberOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  if (isMap(value)) return value[key];
  throw new ApiError(`A patch leads to "${key}", which is not there`, { status: 422 });
}
