/** Cluster and network of the proxy, and the label of the network. */
import { LABEL } from "../../istio/mod.ts";
import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { CLUSTER_ENV, NETWORK_ENV, PROBERS_ENV, PROMETHEUS_ENV } from "../names.ts";
import { envVar, mapProxy, withKey, withLabels } from "../pod/change.ts";
import { labelsOf, type Pod } from "../pod/pod.ts";

/** Environment variables of the proxy that override the template's: `ISTIO_META_...` by name. */
export type ProxyEnvs = Readonly<Record<string, string>>;

/**
 * Cluster and network: from the values, overridden by the caller's, overridden by the pod's network label; without empty
 * ones. An empty label excludes the pod from the network of the values.
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

/** These follow the cluster's variables, also on re-injection. */
const LAST = new Set([PROMETHEUS_ENV, PROBERS_ENV]);

/** Sets variables of the proxy: appends them, sorted by name, and removes the template's variables of these names. */
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

/** Labels the pod with its network. */
export function labelNetwork(pod: Pod, envs: ProxyEnvs): Pod {
  const network = envs[NETWORK_ENV];
  return network === undefined ? pod : withLabels(pod, { [LABEL.network]: network });
}
