/** Sets the proxy's cluster and network, and the pod's network label. */
import { LABEL } from "../../istio/mod.ts";
import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { envVar, mapProxy, withKey, withLabels } from "../pod/change.ts";
import { CLUSTER_ENV, labelsOf, NETWORK_ENV, type Pod, PROBERS_ENV, PROMETHEUS_ENV } from "../pod/pod.ts";

/** Environment variables of the proxy by name (`ISTIO_META_...`). They override the template's variables. */
export type ProxyEnvs = Readonly<Record<string, string>>;

/**
 * Returns the variables for cluster and network. `given` overrides the values, and the pod's network label overrides both.
 * Empty variables are omitted. With an empty network label, the network in the values does not apply.
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

/** On re-injection, these variables must stay after the variables for cluster and network. */
const LAST = new Set([PROMETHEUS_ENV, PROBERS_ENV]);

/** Appends variables to the proxy, sorted by name. Removes the template's variables with the same names. */
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

/** Sets the pod's network label, if the network is known. */
export function labelNetwork(pod: Pod, envs: ProxyEnvs): Pod {
  const network = envs[NETWORK_ENV];
  return network === undefined ? pod : withLabels(pod, { [LABEL.network]: network });
}
