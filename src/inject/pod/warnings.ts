/** Warnings about pods that are injected but may not work. */
import { textAt } from "../../base/value.ts";
import {
  containersOfProxyUser,
  initContainersWithoutNetwork,
  otherMeshSidecars,
  portConflicts,
  PROXY_UID,
} from "./conflicts.ts";
import { containersOf, findProxy, type Pod, specOf } from "./pod.ts";

/** Warnings about an injected pod; `original` is the pod before injection. */
export function podWarnings(original: Pod, injected: Pod): readonly string[] {
  return [
    ...dnsPolicy(original),
    ...withoutNetwork(original, injected),
    ...findProxy(injected) === undefined ? [] : [...proxyUser(original), ...ports(original)],
    ...otherMeshes(original),
  ];
}

function dnsPolicy(pod: Pod): readonly string[] {
  const policy = textAt(specOf(pod), "dnsPolicy");
  if (policy === "" || policy === "ClusterFirst") return [];
  return [
    `The pod's DNS policy is "${policy}", not "ClusterFirst": the proxy may not resolve the name of the control plane`,
  ];
}

/** Only about init containers of the user, not of the templates. */
function withoutNetwork(original: Pod, injected: Pod): readonly string[] {
  const own = containersOf(original, "initContainers").map((container) => textAt(container, "name"));
  if (own.length === 0) return [];
  return initContainersWithoutNetwork(injected).filter((name) => own.includes(name)).map((name) =>
    `The init container "${name}" will have no network: traffic is captured before the proxy runs. ` +
    `Use native sidecars, or run it as user ${PROXY_UID}`
  );
}

function proxyUser(original: Pod): readonly string[] {
  return containersOfProxyUser(original).map((name) =>
    `The container "${name}" runs as user ${PROXY_UID}, which is the proxy's: its traffic is not captured`
  );
}

function ports(original: Pod): readonly string[] {
  return portConflicts(original).map(({ port, container, use }) =>
    `The container "${container}" declares port ${port}, on which the proxy listens (${use}): ` +
    "give the application another port"
  );
}

function otherMeshes(original: Pod): readonly string[] {
  return otherMeshSidecars(original).map(({ container, mesh }) =>
    `The pod has the sidecar of ${mesh} ("${container}"): two meshes capture the same traffic`
  );
}
