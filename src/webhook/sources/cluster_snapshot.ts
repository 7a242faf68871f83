/** Watches the cluster state on which reviews depend: ProxyConfigs, namespaces and nodes. */
import { errorLine } from "../../base/errors.ts";
import { ApiError, keyOf, type KubeApi, type KubeObject } from "../../kube/client/mod.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { Clock } from "../../platform/world.ts";
import { kubeletVersion, nativeNodes } from "../../inject/mod.ts";
import type { ReviewContext } from "../review/pod_injection.ts";
import { ProxyConfigs } from "../review/proxy_configs.ts";

export interface ClusterSnapshot extends Pick<ReviewContext, "proxyConfigs" | "namespace" | "nodes"> {
  close(): void;
}

const PROXY_CONFIGS = "/apis/networking.istio.io/v1beta1/proxyconfigs";
const NAMESPACES = "/api/v1/namespaces";
const NODES = "/api/v1/nodes";
/** Maximum milliseconds to wait for the first state. The API server waits equally long for a review. */
const FIRST_WAIT = 10_000;

export interface WatchOptions {
  readonly api: KubeApi;
  readonly log: Logger;
  readonly clock: Pick<Clock, "sleep">;
  /** Whether native sidecars depend on the kubelet versions of nodes. */
  readonly asksNodes: boolean;
}

/** Starts the watches, and waits up to 10 seconds until they are in sync. Never rejects. */
export async function watchCluster({ api, log, clock, asksNodes }: WatchOptions): Promise<ClusterSnapshot> {
  const stop = new AbortController();
  const collection = (path: string, what: string, slim = withoutWriters) =>
    new Collection({ api, log, path, what, slim, signal: stop.signal });
  const proxyConfigs = collection(PROXY_CONFIGS, "ProxyConfigs");
  const namespaces = collection(NAMESPACES, "namespaces");
  const nodes = asksNodes ? collection(NODES, "nodes", versionAlone) : undefined;
  const first = new AbortController();
  await Promise.race([
    Promise.all([proxyConfigs.first.promise, namespaces.first.promise, nodes?.first.promise]),
    clock.sleep(FIRST_WAIT, first.signal),
  ]);
  first.abort();
  const parsed = derived(proxyConfigs, (objects) => {
    const configs = new ProxyConfigs([...objects]);
    for (const problem of configs.problems) log.warn(logText(problem));
    return configs;
  });
  const native = nodes && derived(nodes, nativeNodes);
  return {
    get nodes() {
      return nodes?.isKnown === true ? native?.() : undefined;
    },
    get proxyConfigs() {
      return parsed();
    },
    namespace: (name) => namespaces.objects.get(`/${name}`),
    close: () => stop.abort(),
  };
}

/** Returns a function that computes a value from a collection, and recomputes it only after a change. */
function derived<T>(collection: Collection, compute: (objects: Iterable<KubeObject>) => T): () => T {
  let known: { readonly version: number; readonly value: T } | undefined;
  return () => {
    const { version, objects } = collection;
    if (known?.version !== version) known = { version, value: compute(objects.values()) };
    return known.value;
  };
}

interface Collected extends Pick<WatchOptions, "api" | "log"> {
  readonly path: string;
  /** Name of the resources, for the log. */
  readonly what: string;
  /** Removes fields that are not needed. */
  readonly slim: (object: KubeObject) => KubeObject;
  readonly signal: AbortSignal;
}

/** A watched collection of the cluster. */
class Collection {
  readonly objects = new Map<string, KubeObject>();
  /** Resolves when the watch is in sync or has failed. */
  readonly first = Promise.withResolvers<void>();
  /** Number of changes to the kept fields. */
  version = 0;
  /** Whether the watch has been in sync. */
  isKnown = false;
  #isWatched = true;

  constructor(from: Collected) {
    void this.#watch(from);
  }

  async #watch({ api, log, path, what, slim, signal }: Collected): Promise<void> {
    const events = api.watch(path, {}, signal, {
      synced: () => {
        this.#isWatched = true;
        this.isKnown = true;
        this.first.resolve();
      },
      failed: (error) => {
        // Log a failure once. Status 404 means that Istio's CRDs are not installed.
        const isLogged = this.#isWatched && !(error instanceof ApiError && error.status === 404);
        if (isLogged) log.warn(logText(`Cannot watch the ${what}, using the last known ones: ${errorLine(error)}`));
        if (isLogged) this.#isWatched = false;
        this.first.resolve();
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
}

/** Keeps only a node's name and kubelet version. Nodes are large, and a cluster may have thousands. */
function versionAlone(node: KubeObject): KubeObject {
  const { apiVersion, kind, metadata: { name } } = node;
  return { apiVersion, kind, metadata: { name }, status: { nodeInfo: { kubeletVersion: kubeletVersion(node) } } };
}

/** Removes `managedFields`, which often make up half of an object. */
function withoutWriters(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
