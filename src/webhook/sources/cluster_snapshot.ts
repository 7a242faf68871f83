/** What reviews depend on besides the configuration, as the cluster has it: ProxyConfigs, namespaces and nodes, watched. */
import { errorLine, type MeshError } from "../../core/errors.ts";
import { ApiError, keyOf, type KubeApi, type KubeObject } from "../../core/kube/client/mod.ts";
import { type Logger, logText } from "../../core/log.ts";
import type { Clock } from "../../core/world/world.ts";
import { mapAt } from "../../core/value.ts";
import { kubeletVersion, type NativeNodes, nativeNodes } from "../../inject/mod.ts";
import { ProxyConfigs, userAnnotations } from "../review/mod.ts";
import type { ClusterKnown } from "../server/start.ts";
import type { NamespaceUsers } from "../workers/mod.ts";

/** The facts as they are at present. */
export interface ClusterFacts extends ClusterKnown {
  /** Watches no longer. */
  close(): void;
}

const PROXY_CONFIGS = "/apis/networking.istio.io/v1beta1/proxyconfigs";
const NAMESPACES = "/api/v1/namespaces";
const NODES = "/api/v1/nodes";
/** Reviews wait no longer for facts at the start than the API server for a review. */
const FIRST_WAIT = 10_000;

/** Where the facts come from. */
export interface FactsOptions {
  readonly api: KubeApi;
  readonly log: Logger;
  readonly clock: Pick<Clock, "sleep">;
  /** Whether nodes may decide about proxies. */
  readonly asksNodes: boolean;
}

/** Starts to watch and waits, for some seconds at most, until what is there is known. Throws nothing. */
export async function watchFacts({ api, log, clock, asksNodes }: FactsOptions): Promise<ClusterFacts> {
  const stop = new AbortController();
  const collection = (path: string, what: string, slim = withoutWriters) =>
    new Collection({ api, log, path, what, slim, signal: stop.signal });
  const proxyConfigs = collection(PROXY_CONFIGS, "ProxyConfigs");
  const namespaces = collection(NAMESPACES, "namespaces");
  const nodes = asksNodes ? collection(NODES, "nodes", versionAlone) : undefined;
  const first = new AbortController();
  await Promise.race([
    Promise.all([proxyConfigs.first, namespaces.first, nodes?.first]),
    clock.sleep(FIRST_WAIT, first.signal),
  ]);
  first.abort();
  const read = new ReadConfigs(proxyConfigs, log);
  const users = usersIn(namespaces);
  const native = nodes === undefined ? () => undefined : nativeIn(nodes);
  return {
    get nodes() {
      return native();
    },
    get proxyConfigs() {
      return read.current();
    },
    namespace: (name) => namespaces.objects.get(`/${name}`),
    get namespaceUsers() {
      return users();
    },
    close: () => stop.abort(),
  };
}

/** The users of all namespaces, looked at when a namespace has changed: most changes do not concern them. */
function usersIn(namespaces: Collection): () => NamespaceUsers {
  let [version, current, text]: [number, NamespaceUsers, string] = [0, {}, "{}"];
  return () => {
    if (namespaces.version === version) return current;
    version = namespaces.version;
    const found = [...namespaces.objects.values()]
      .map(({ metadata }) => [metadata.name, userAnnotations(mapAt(metadata, "annotations"))] as const)
      .filter(([, users]) => Object.keys(users).length > 0);
    const next = Object.fromEntries(found);
    if (JSON.stringify(next) !== text) [current, text] = [next, JSON.stringify(next)];
    return current;
  };
}

/** Nodes tell their state all the time, but seldom another version. */
function nativeIn(nodes: Collection): () => NativeNodes | undefined {
  let [version, current]: [number, NativeNodes | undefined] = [-1, undefined];
  return () => {
    if (!nodes.isKnown || nodes.version === version) return current;
    version = nodes.version;
    return current = nativeNodes(nodes.objects.values());
  };
}

/** ProxyConfigs are read when a review comes after a change. */
class ReadConfigs {
  readonly #collection: Collection;
  readonly #log: Logger;
  #version = 0;
  #current = new ProxyConfigs([]);

  constructor(collection: Collection, log: Logger) {
    this.#collection = collection;
    this.#log = log;
  }

  current(): ProxyConfigs {
    const { version, objects } = this.#collection;
    if (version === this.#version) return this.#current;
    this.#version = version;
    this.#current = new ProxyConfigs([...objects.values()]);
    for (const problem of this.#current.problems) this.#log.warn(logText(problem));
    return this.#current;
  }
}

interface Collected {
  readonly api: KubeApi;
  readonly log: Logger;
  readonly path: string;
  /** For the log. */
  readonly what: string;
  /** What is kept of an object. */
  readonly slim: (object: KubeObject) => KubeObject;
  readonly signal: AbortSignal;
}

/** A collection of the cluster, kept as it is there. */
class Collection {
  readonly objects = new Map<string, KubeObject>();
  /** Resolves when what was there is known, or cannot be had at present. */
  readonly first: Promise<void>;
  /** Counts changes of what is kept. */
  version = 0;
  /** Whether it has been read once. */
  isKnown = false;
  readonly #from: Collected;
  #isHeard = true;

  constructor(from: Collected) {
    this.#from = from;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.first = promise;
    void this.#watch(resolve);
  }

  async #watch(known: () => void): Promise<void> {
    const { api, path, signal, slim } = this.#from;
    const events = api.watch(path, {}, signal, {
      synced: () => {
        this.#isHeard = true;
        this.isKnown = true;
        known();
      },
      failed: (error) => {
        this.#tell(error);
        known();
      },
    });
    for await (const { type, object } of events) {
      this.#take(type === "DELETED" ? undefined : slim(object), keyOf(object.metadata));
    }
  }

  #take(object: KubeObject | undefined, key: string): void {
    if (JSON.stringify(object) === JSON.stringify(this.objects.get(key))) return;
    this.version++;
    if (object === undefined) this.objects.delete(key);
    else this.objects.set(key, object);
  }

  /** A cluster without Istio's types has no ProxyConfigs, and may get them. */
  #tell(error: MeshError): void {
    if (!this.#isHeard || (error instanceof ApiError && error.status === 404)) return;
    this.#isHeard = false;
    const { log, what } = this.#from;
    log.warn(logText(`The ${what} of the cluster are not heard, those known before count: ${errorLine(error)}`));
  }
}

/** A node is long, and there may be thousands. */
function versionAlone(node: KubeObject): KubeObject {
  const { apiVersion, kind, metadata: { name } } = node;
  return { apiVersion, kind, metadata: { name }, status: { nodeInfo: { kubeletVersion: kubeletVersion(node) } } };
}

/** Without the half of an object that tells who wrote which field. */
function withoutWriters(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
