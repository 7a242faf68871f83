/** The proxies of pods as the kubelet reports them. */
import type { KubeObject } from "../../../core/kube/client/mod.ts";
import { intAt, isList, isMap, mapAt, textAt, type ValueMap } from "../../../core/value.ts";
import { containersOf, findProxy } from "../../../inject/mod.ts";

/** A container that injection made, and what the kubelet says of it; the status is empty as long as it says nothing. */
export interface ContainerState {
  readonly name: string;
  readonly spec: ValueMap;
  readonly status: ValueMap;
}

/** A pod with a proxy that is meant to run. */
export interface ProxyPod {
  /** `pod/shop/cart-1`. */
  readonly object: string;
  readonly pod: KubeObject;
  readonly proxy: ContainerState;
  /** The init container that captures the traffic or proves that it is captured, where there is one. */
  readonly init: ContainerState | undefined;
}

const INIT_NAMES = new Set(["istio-init", "istio-validation"]);
/** Pods that have ended say nothing of the mesh: a Job's that is done is well (linkerd2 #6128). */
const ENDED = new Set(["Succeeded", "Failed"]);

/** The pods with a proxy that are neither done nor being deleted. */
export function proxyPods(pods: readonly KubeObject[]): readonly ProxyPod[] {
  return pods.flatMap((pod) => {
    const spec = findProxy(pod);
    const { name, namespace = "", deletionTimestamp } = pod.metadata;
    if (spec === undefined || deletionTimestamp !== undefined) return [];
    if (ENDED.has(textAt(mapAt(pod, "status"), "phase"))) return [];
    const init = containersOf(pod, "initContainers").find((each) => INIT_NAMES.has(textAt(each, "name")));
    return [{
      object: `pod/${namespace}/${name}`,
      pod,
      proxy: stateOf(pod, spec),
      init: init === undefined ? undefined : stateOf(pod, init),
    }];
  });
}

function stateOf(pod: KubeObject, spec: ValueMap): ContainerState {
  const name = textAt(spec, "name");
  const status = mapAt(pod, "status");
  const all = [status["containerStatuses"], status["initContainerStatuses"]].filter(isList).flat().filter(isMap);
  return { name, spec, status: all.find((each) => each["name"] === name) ?? {} };
}

/** Why the container does not start, such as `ImagePullBackOff`; `""` if it does not wait. */
export function waitingReason({ status }: ContainerState): string {
  return textAt(mapAt(mapAt(status, "state"), "waiting"), "reason");
}

/** What the kubelet says of it besides. */
export function waitingMessage({ status }: ContainerState): string {
  return textAt(mapAt(mapAt(status, "state"), "waiting"), "message");
}

/** How a container ended. */
export interface Ending {
  readonly code: number;
  /** `OOMKilled`, `Error`, `Completed`. */
  readonly reason: string;
  /** What the container left in its termination log: untrusted, and of any length. */
  readonly message: string;
}

/** How the container ended last: in its present state, else before its last restart. */
export function lastEnding({ status }: ContainerState): Ending | undefined {
  for (const key of ["state", "lastState"]) {
    const ended = mapAt(mapAt(status, key), "terminated");
    const code = intAt(ended, "exitCode");
    if (code !== undefined) return { code, reason: textAt(ended, "reason"), message: textAt(ended, "message") };
  }
  return undefined;
}

/** How often it was started again. */
export function restartsOf({ status }: ContainerState): number {
  return intAt(status, "restartCount") ?? 0;
}

/** A condition of the pod, such as `PodScheduled`, if it is there. */
export function conditionOf(pod: KubeObject, type: string): ValueMap | undefined {
  const conditions = mapAt(pod, "status")["conditions"];
  return isList(conditions) ? conditions.filter(isMap).find((each) => each["type"] === type) : undefined;
}
