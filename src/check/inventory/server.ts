import { isApiService, isPod, type Pod } from "../../kube/client/mod.ts";
import { isMap, mapsAt, newMap, textAt } from "../../base/value.ts";
import { isKnown, observe, type Observed, once, reason } from "./observed.ts";
import { listOf, type Source } from "./source.ts";

export interface ServerVersion {
  readonly text: string;
  readonly major: number;
  readonly minor: number;
  /** Milliseconds by which the server's clock is ahead of this machine's clock; `undefined` without a Date header. */
  readonly ahead: number | undefined;
}

/** Selects the static pods of the API server by kubeadm's label. */
const API_SERVERS = { isKind: isPod, namespace: "kube-system", query: { labelSelector: "component=kube-apiserver" } };

/** Selects the pods of kube-proxy by kubeadm's label. */
const KUBE_PROXIES = { isKind: isPod, namespace: "kube-system", query: { labelSelector: "k8s-app=kube-proxy" } };

/** Returns getters for the API server's version, clock, APIs, and pods, and for kube-proxy. */
export function serverInventory(source: Source) {
  const version = once(() => observe("get on the path /version", () => readVersion(source)));
  return {
    server: source.api.server,
    serverFlag: source.serverFlag,
    version,
    /** Whether the server responds. If it does not, `failed` is the reason. Status 403 counts as a response. */
    answers: async (): Promise<Observed<{ readonly failed?: string }>> => {
      const observed = await version();
      return { value: isKnown(observed) || "forbidden" in observed ? {} : { failed: reason(observed) } };
    },
    apiGroups: once(() => observe("get on the path /apis", () => readGroups(source))),
    apiServerPods: once(() => systemPods(source, API_SERVERS)),
    kubeProxyPods: once(() => systemPods(source, KUBE_PROXIES)),
    apiServices: once(() => listOf(source, "apis/apiregistration.k8s.io/v1", "apiservices", { isKind: isApiService })),
  };
}

/** Lists pods of kube-system. Empty if the scope is one namespace, because other namespaces are then not read. */
async function systemPods(source: Source, listing: typeof API_SERVERS): Promise<Observed<readonly Pod[]>> {
  return source.scope.namespace === undefined ? await listOf(source, "api/v1", "pods", listing) : { value: [] };
}

async function readVersion({ api, clock }: Source): Promise<ServerVersion> {
  const before = clock.now().getTime();
  const { value, date } = await api.raw("/version");
  const version = isMap(value) ? value : newMap();
  const after = clock.now().getTime();
  const numberAt = (key: string) => Number.parseInt(textAt(version, key), 10);
  return {
    text: textAt(version, "gitVersion"),
    major: numberAt("major"),
    minor: numberAt("minor"),
    ahead: aheadOf(date, before, after),
  };
}

/** Returns the clock difference. The server sets the Date header between `before` and `after`, in whole seconds. */
function aheadOf(date: string | undefined, before: number, after: number): number | undefined {
  const server = Date.parse(date ?? "");
  if (Number.isNaN(server)) return undefined;
  if (server > after) return server - after;
  return Math.min(0, server + 1000 - before);
}

async function readGroups({ api }: Source): Promise<readonly string[]> {
  const { value } = await api.raw("/apis");
  const groups = isMap(value) ? mapsAt(value, "groups") : [];
  return groups.flatMap((group) => mapsAt(group, "versions").map((version) => textAt(version, "groupVersion")));
}
