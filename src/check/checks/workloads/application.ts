/** Conflicts between applications and their proxy. */
import { intAt, mapAt, mapsAt, textAt, type ValueMap } from "../../../core/value.ts";
import { containersOf, findProxy, specOf } from "../../../inject/mod.ts";
import type { ExpectedPod } from "../../inventory/expectations.ts";
import type { PodProblem } from "./pod_problem.ts";

const PROXY = "istio-proxy";
const CAPTURE = ["istio-init", "istio-validation"];
const OURS: readonly string[] = [PROXY, ...CAPTURE, "enable-core-dump"];

/** The user of the proxy: its traffic is not captured. */
const PROXY_UID = 1337;

function isInMesh({ hasProxy, decision }: ExpectedPod): boolean {
  return hasProxy || decision?.inject === true;
}

function isOurs(container: ValueMap): boolean {
  return OURS.includes(textAt(container, "name"));
}

function userOf(container: ValueMap, pod: ValueMap): number | undefined {
  return intAt(mapAt(container, "securityContext"), "runAsUser") ??
    intAt(mapAt(specOf(pod), "securityContext"), "runAsUser");
}

/**
 * Init containers between traffic capture and the start of the proxy have no network. The CNI plugin captures before
 * all of them (Istio, "Compatibility with application init containers").
 */
export function initNetwork({ pod, hasProxy }: ExpectedPod): PodProblem | undefined {
  if (!hasProxy) return undefined;
  const inits = containersOf(pod, "initContainers");
  const names = inits.map((container) => textAt(container, "name"));
  const capture = names.findIndex((name) => CAPTURE.includes(name));
  const proxy = names.indexOf(PROXY);
  if (capture < 0) return undefined;
  const end = proxy < 0 ? names.length : proxy;
  const cut = inits.filter((container, index) => {
    return index > capture && index < end && !isOurs(container) && userOf(container, pod) !== PROXY_UID;
  });
  if (cut.length === 0) return undefined;
  const told = cut.map((container) => `"${textAt(container, "name")}"`).join(", ");
  return { result: "warning", message: `its init containers ${told} run before the proxy, without network access` };
}

/**
 * A Job completes when all its containers end. An ordinary proxy container does not (Kubernetes, "Sidecar
 * Containers").
 */
export function jobProxy({ pod, owner }: ExpectedPod): PodProblem | undefined {
  if (!["Job", "CronJob"].includes(owner.kind)) return undefined;
  const containers = containersOf(pod, "containers");
  if (findProxy(pod) === undefined || !containers.some(({ name }) => name === PROXY)) return undefined;
  const states = (pod.status?.containerStatuses ?? []).filter(({ name }) => name !== PROXY);
  const isDone = states.length > 0 && states.every(({ state }) => state?.terminated !== undefined);
  return isDone
    ? { result: "error", message: "its containers are done, but the proxy keeps running: the Job does not complete" }
    : {
      result: "warning",
      message: "its proxy is not a native sidecar, and keeps running when the containers are done",
    };
}

/** Source: Istio, "Application Requirements": pods must not run applications as 1337. */
export function proxyUser(expected: ExpectedPod): PodProblem | undefined {
  const { pod } = expected;
  if (!isInMesh(expected)) return undefined;
  const found = containersOf(pod, "containers").filter((each) => !isOurs(each) && userOf(each, pod) === PROXY_UID);
  if (found.length === 0) return undefined;
  const told = found.map((container) => `"${textAt(container, "name")}"`).join(", ");
  return {
    result: "error",
    message: `its containers ${told} run as the proxy user ${PROXY_UID}: their traffic bypasses the proxy`,
  };
}

/** Source: Istio, "Application Requirements", ports used by Istio. */
const PORTS: ReadonlyMap<number, string> = new Map([
  [15000, "Envoy's admin interface"],
  [15001, "outbound traffic"],
  [15004, "the debug port"],
  [15006, "inbound traffic"],
  [15008, "HBONE"],
  [15020, "the agent's metrics and probes"],
  [15021, "the health check"],
  [15053, "DNS"],
  [15090, "Envoy's metrics"],
]);

/** Declared application ports on which the proxy listens. */
export function appPorts(expected: ExpectedPod): PodProblem | undefined {
  const { pod } = expected;
  if (!isInMesh(expected)) return undefined;
  const clashes = containersOf(pod, "containers").filter((each) => !isOurs(each)).flatMap(portsOf);
  if (clashes.length === 0) return undefined;
  return { result: "error", message: `it declares proxy ports: ${clashes.join(", ")}` };
}

function portsOf(container: ValueMap): readonly string[] {
  return mapsAt(container, "ports").flatMap((each) => {
    const port = intAt(each, "containerPort");
    const use = port === undefined ? undefined : PORTS.get(port);
    return use === undefined ? [] : [`${port} of "${textAt(container, "name")}" (${use})`];
  });
}
