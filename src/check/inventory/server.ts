import { isApiService, isPod } from "../../core/kube/client/mod.ts";
import { isMap, mapsAt, newMap, textAt } from "../../core/value.ts";
import { observe, once } from "./observed.ts";
import { listOf, type Source } from "./source.ts";

/** What the API server says of itself. */
export interface ServerVersion {
  /** As it is called: `v1.34.1+k3s1`. */
  readonly text: string;
  readonly major: number;
  readonly minor: number;
  /** By how many milliseconds its clock is before that of this machine; `undefined` if it did not say. */
  readonly ahead: number | undefined;
}

/** Where kubeadm and its like show the API server itself (the label that kubeadm gives to static pods). */
const API_SERVERS = { isKind: isPod, namespace: "kube-system", query: { labelSelector: "component=kube-apiserver" } };

/** The label of kubeadm, and of those who install kube-proxy as it does. */
const KUBE_PROXIES = { isKind: isPod, namespace: "kube-system", query: { labelSelector: "k8s-app=kube-proxy" } };

/** The API server: its version and clock, what it serves, its own pods, and what it reaches Services by. */
export function serverInventory(source: Source) {
  return {
    server: source.api.server,
    version: once(() => observe("get on the path /version", () => readVersion(source))),
    apiGroups: once(() => observe("get on the path /apis", () => readGroups(source))),
    apiServerPods: once(() => listOf(source, "api/v1", "pods", API_SERVERS)),
    kubeProxyPods: once(() => listOf(source, "api/v1", "pods", KUBE_PROXIES)),
    apiServices: once(() => listOf(source, "apis/apiregistration.k8s.io/v1", "apiservices", { isKind: isApiService })),
  };
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
    ahead: aheadOf(date, { before, after }),
  };
}

/** The header is of some moment while the request was under way, and its second is cut off. */
function aheadOf(date: string | undefined, { before, after }: { before: number; after: number }): number | undefined {
  const server = Date.parse(date ?? "");
  if (Number.isNaN(server)) return undefined;
  if (server > after) return server - after;
  return Math.min(0, server + 1000 - before);
}

/** `group/version` of all that is served. */
async function readGroups({ api }: Source): Promise<readonly string[]> {
  const { value } = await api.raw("/apis");
  const groups = isMap(value) ? mapsAt(value, "groups") : [];
  return groups.flatMap((group) => mapsAt(group, "versions").map((version) => textAt(version, "groupVersion")));
}
