/** Finds conflicts between applications and their proxy. */
import {
  containersOf,
  containersOfProxyUser,
  findProxy,
  initContainersWithoutNetwork,
  portConflicts,
  PROXY,
  PROXY_UID,
} from "../../../inject/mod.ts";
import { known } from "../../facts.ts";
import type { ExpectedPod } from "../../inventory/expectations.ts";
import type { ProblemOf } from "../findings.ts";

/** Whether the pod has a proxy, or gets a proxy when it is recreated. */
export function isInMesh({ hasProxy, decision }: ExpectedPod): boolean {
  return hasProxy || known(decision)?.inject === true;
}

/** Reports init containers that run after traffic is captured and before the proxy starts. They have no network. */
export function initNetwork({ pod, hasProxy }: ExpectedPod): ProblemOf | undefined {
  const cut = hasProxy ? initContainersWithoutNetwork(pod) : [];
  if (cut.length === 0) return undefined;
  const message = `its init containers ${quoted(cut)} run before the proxy, without network access`;
  return { result: "warning", message };
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}

/** Reports a proxy that keeps its Job from completing, as an ordinary container (Kubernetes, "Sidecar Containers"). */
export function jobProxy({ pod, owner }: ExpectedPod): ProblemOf | undefined {
  if (!["Job", "CronJob"].includes(owner.kind)) return undefined;
  const containers = containersOf(pod, "containers");
  if (findProxy(pod) === undefined || !containers.some(({ name }) => name === PROXY)) return undefined;
  const states = (pod.status?.containerStatuses ?? []).filter(({ name }) => name !== PROXY);
  if (states.length > 0 && states.every(({ state }) => state?.terminated !== undefined)) {
    const message = "its containers have exited, but the proxy keeps running, so the Job does not complete";
    return { result: "error", message };
  }
  const message = "its proxy is not a native sidecar, and keeps running after the other containers exit";
  return { result: "warning", message };
}

/** Reports containers that run as the proxy's user, because their traffic bypasses the proxy. */
export function proxyUser(expected: ExpectedPod): ProblemOf | undefined {
  const found = containersOfProxyUser(expected.pod);
  if (found.length === 0 || !isInMesh(expected)) return undefined;
  const message = `its containers ${
    quoted(found)
  } run as the proxy user ${PROXY_UID}: their traffic bypasses the proxy`;
  return { result: "error", message };
}

export function appPorts(expected: ExpectedPod): ProblemOf | undefined {
  const clashes = portConflicts(expected.pod);
  if (clashes.length === 0 || !isInMesh(expected)) return undefined;
  const ports = clashes.map(({ port, container, use }) => `${port} of "${container}" (${use})`).join(", ");
  return { result: "error", message: `its containers declare ports of the proxy: ${ports}` };
}
