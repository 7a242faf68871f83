/** Warnings about pods that are injected but may not work. */
import { intAt, isMap, mapAt, textAt } from "../../core/value.ts";
import { containerNamed, containersOf, findProxy, type Pod, PROXY, specOf } from "./pod.ts";
import type { ValueMap } from "../../core/value.ts";

/** UID of the proxy, which traffic capture exempts. */
const PROXY_UID = 1337;

/** Warnings about an injected pod; `original` is the pod before injection. */
export function podWarnings(original: Pod, injected: Pod): readonly string[] {
  return [
    ...dnsPolicy(original),
    ...initContainersWithoutNetwork(original, injected),
    ...proxyUser(original, injected),
  ];
}

function dnsPolicy(pod: Pod): readonly string[] {
  const policy = textAt(specOf(pod), "dnsPolicy");
  if (policy === "" || policy === "ClusterFirst") return [];
  return [
    `The pod's DNS policy is "${policy}", not "ClusterFirst": the proxy may not resolve the name of the control plane`,
  ];
}

/**
 * Init containers of the application that run after capture starts and before the proxy runs. With istio-validation the CNI
 * plugin captures from the start, with istio-init from its end.
 */
function initContainersWithoutNetwork(original: Pod, injected: Pod): readonly string[] {
  const inits = containersOf(injected, "initContainers");
  const proxyRuns = inits.findIndex((container) => container["name"] === PROXY);
  const validated = containerNamed(inits, "istio-validation") !== undefined;
  const captured = validated ? -1 : inits.findIndex((container) => container["name"] === "istio-init");
  if (findProxy(injected) === undefined || (!validated && captured < 0)) return [];
  const own = containersOf(original, "initContainers").map((container) => textAt(container, "name"));
  return inits.flatMap((container, index) => {
    const name = textAt(container, "name");
    const runsWithout = index > captured && (proxyRuns < 0 || index < proxyRuns);
    if (!runsWithout || name.startsWith("istio-") || !own.includes(name) || sparesCapture(container)) return [];
    return [
      `The init container "${name}" will have no network: traffic is captured before the proxy runs. ` +
      `Use native sidecars, or run it as user ${PROXY_UID}`,
    ];
  });
}

function sparesCapture(container: ValueMap): boolean {
  return intAt(mapAt(container, "securityContext"), "runAsUser") === PROXY_UID;
}

/** An application that runs as the proxy's user bypasses the proxy. */
function proxyUser(original: Pod, injected: Pod): readonly string[] {
  if (findProxy(injected) === undefined) return [];
  const podUser = intAt(mapAt(specOf(original), "securityContext"), "runAsUser");
  return containersOf(original, "containers").filter(isMap).flatMap((container) => {
    const user = intAt(mapAt(container, "securityContext"), "runAsUser") ?? podUser;
    if (user !== PROXY_UID || container["name"] === PROXY) return [];
    return [
      `The container "${
        textAt(container, "name")
      }" runs as user ${PROXY_UID}, which is the proxy's: its traffic is not captured`,
    ];
  });
}
