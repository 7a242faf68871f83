/** Live pods and their proxies. */
import type { KubeObject } from "../../core/kube/client/mod.ts";
import { isList, isMap, mapAt, textAt, type ValueMap } from "../../core/value.ts";
import { containersOf, findProxy } from "../../inject/mod.ts";

/** A pod. */
export interface LivePod {
  readonly pod: string;
  readonly phase: string;
  readonly hasProxy: boolean;
  /** The proxy is an init container that keeps running. */
  readonly isNative: boolean;
  /** Of the control plane that injected it; `null` if that is not noted. */
  readonly revision: string | null;
  /** The proxy's. */
  readonly image: string | null;
  /** The kubelet says that the proxy is ready. */
  readonly isReady: boolean;
}

const ENDED = ["Succeeded", "Failed"];

/** Whether a pod is neither done nor being deleted. */
export function isAlive(pod: KubeObject): boolean {
  return pod.metadata["deletionTimestamp"] === undefined && !ENDED.includes(textAt(mapAt(pod, "status"), "phase"));
}

/** What a pod has. */
export function livePod(pod: KubeObject): LivePod {
  const proxy = findProxy(pod);
  const isNative = containersOf(pod, "initContainers").some((each) => each === proxy);
  return {
    pod: pod.metadata.name,
    phase: textAt(mapAt(pod, "status"), "phase"),
    hasProxy: proxy !== undefined,
    isNative,
    revision: revisionOf(pod),
    image: proxy === undefined ? null : textAt(proxy, "image"),
    isReady: proxy !== undefined && statusOf(pod, textAt(proxy, "name"))["ready"] === true,
  };
}

const STATUS = "sidecar.istio.io/status";

/** The revision in the note that injection leaves, from Istio 1.9 on. */
export function revisionOf(pod: KubeObject): string | null {
  const text = textAt(mapAt(mapAt(pod, "metadata"), "annotations"), STATUS);
  try {
    const status: unknown = JSON.parse(text);
    return isMap(status) ? textAt(status, "revision") || null : null;
  } catch {
    return null;
  }
}

function statusOf(pod: KubeObject, container: string): ValueMap {
  const status = mapAt(pod, "status");
  const all = [status["containerStatuses"], status["initContainerStatuses"]].filter(isList).flat().filter(isMap);
  return all.find((each) => each["name"] === container) ?? {};
}
