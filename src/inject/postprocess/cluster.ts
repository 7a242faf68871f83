/** Cluster and network of the proxy, and the label of the network. */
import { LABEL } from "../../core/mesh/mod.ts";
import { mapAt, mapsAt, textAt, type ValueMap } from "../../core/value.ts";
import { CLUSTER_ENV, NETWORK_ENV, PROBERS_ENV, PROMETHEUS_ENV } from "../names.ts";
import { envVar, labelsOf, mapProxy, type Pod, withKey, withLabels } from "../pod/pod.ts";

/** Environment variables of the proxy that are set whatever the template has: `ISTIO_META_...` by name. */
export type ProxyEnvs = Readonly<Record<string, string>>;

/**
 * Cluster and network from the values, the caller's over them, the pod's own network label over all; empty ones are left
 * out. An empty label says that the pod is not in the network of the values.
 */
export function proxyEnvs(pod: Pod, values: ValueMap, given: ProxyEnvs): ProxyEnvs {
  const global = mapAt(values, "global");
  const envs = {
    [CLUSTER_ENV]: textAt(mapAt(global, "multiCluster"), "clusterName"),
    [NETWORK_ENV]: Object.hasOwn(labelsOf(pod), LABEL.network) ? "" : textAt(global, "network"),
    ...given,
  };
  const label = textAt(labelsOf(pod), LABEL.network);
  if (label !== "") envs[NETWORK_ENV] = label;
  return Object.fromEntries(Object.entries(envs).filter(([, value]) => value !== ""));
}

/** These come after the cluster's, on a first injection as on any other. */
const LAST = new Set([PROMETHEUS_ENV, PROBERS_ENV]);

/** Sets the variables on the proxy: the template's of those names go, all come at the end, sorted by name. */
export function setProxyEnvs(pod: Pod, envs: ProxyEnvs, reinjected: boolean): Pod {
  const names = Object.keys(envs).sort();
  if (names.length === 0) return pod;
  return mapProxy(pod, (proxy) => {
    const left = mapsAt(proxy, "env").filter((variable) => !Object.hasOwn(envs, textAt(variable, "name")));
    const added = names.map((name) => envVar(name, envs[name] ?? ""));
    const last = reinjected ? left.filter((variable) => LAST.has(textAt(variable, "name"))) : [];
    const first = left.filter((variable) => !last.includes(variable));
    return withKey(proxy, "env", [...first, ...added, ...last]);
  });
}

/** The label that tells the network of the pod to the mesh. */
export function labelNetwork(pod: Pod, envs: ProxyEnvs): Pod {
  const network = envs[NETWORK_ENV];
  return network === undefined ? pod : withLabels(pod, { [LABEL.network]: network });
}
