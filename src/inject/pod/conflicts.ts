/** Finds conflicts between an application and its proxy, in manifests (`inject`) and in the cluster (`check`). */
import { intAt, mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { PROXY_PORTS } from "../../istio/mod.ts";
import { allContainers, containersOf, INIT, type Pod, PROXY, specOf, TEMPLATE_CONTAINERS, VALIDATION } from "./pod.ts";

/** UID of the proxy. Traffic of processes with this UID is not captured. */
export const PROXY_UID = 1337;

function isAdded(container: ValueMap): boolean {
  return TEMPLATE_CONTAINERS.includes(textAt(container, "name"));
}

function userOf(container: ValueMap, pod: Pod): number | undefined {
  return intAt(mapAt(container, "securityContext"), "runAsUser") ??
    intAt(mapAt(specOf(pod), "securityContext"), "runAsUser");
}

/**
 * Returns the names of application init containers that have no network, because they run after traffic capture starts
 * and before the proxy runs.
 * With istio-validation, the CNI plugin captures from the start of the pod. With istio-init, capture starts when istio-init
 * exits. Source: Istio, "Compatibility with application init containers".
 */
export function initContainersWithoutNetwork(pod: Pod): readonly string[] {
  const names = allContainers(pod).map((container) => textAt(container, "name"));
  const inits = containersOf(pod, "initContainers");
  const capture = names.includes(VALIDATION) ? -1 : names.indexOf(INIT);
  const isCaptured = names.includes(VALIDATION) || names.includes(INIT);
  if (!isCaptured || !names.includes(PROXY)) return [];
  const proxy = inits.findIndex(({ name }) => name === PROXY);
  const end = proxy < 0 ? inits.length : proxy;
  return inits.filter((container, index) =>
    index > capture && index < end && !isAdded(container) && userOf(container, pod) !== PROXY_UID
  ).map((container) => textAt(container, "name"));
}

/** Returns the names of application containers that run as the proxy's user (Istio, "Application Requirements"). */
export function containersOfProxyUser(pod: Pod): readonly string[] {
  return containersOf(pod, "containers").filter((each) => !isAdded(each) && userOf(each, pod) === PROXY_UID)
    .map((container) => textAt(container, "name"));
}

/** A port that both an application container and the proxy use. */
export interface PortConflict {
  readonly port: number;
  readonly container: string;
  /** The proxy's use of the port. */
  readonly use: string;
}

/** Finds ports of the proxy that application containers declare. */
export function portConflicts(pod: Pod): readonly PortConflict[] {
  return containersOf(pod, "containers").filter((each) => !isAdded(each)).flatMap((container) =>
    mapsAt(container, "ports").flatMap((each) => {
      const port = intAt(each, "containerPort");
      const use = port === undefined ? undefined : PROXY_PORTS.get(port);
      return port === undefined || use === undefined ? [] : [{ port, container: textAt(container, "name"), use }];
    })
  );
}

/** Other service meshes, by the name of their sidecar container. */
const OTHER_MESHES: ReadonlyMap<string, string> = new Map([
  ["linkerd-proxy", "Linkerd"],
  ["kuma-sidecar", "Kuma"],
  ["consul-dataplane", "Consul"],
]);

/** Finds sidecars of other meshes among a pod's containers and init containers. */
export function otherMeshSidecars(pod: Pod): readonly { readonly container: string; readonly mesh: string }[] {
  return allContainers(pod).flatMap((each) => {
    const container = textAt(each, "name");
    const mesh = OTHER_MESHES.get(container);
    return mesh === undefined ? [] : [{ container, mesh }];
  });
}
