/** Reads live pods and their proxies. */
import { parseJson } from "../../base/json.ts";
import type { V1ContainerStatus } from "@kubernetes/client-node/models";
import type { Plain, Pod } from "../../kube/client/mod.ts";
import { isMap, textAt } from "../../base/value.ts";
import { containersOf, findProxy } from "../../inject/mod.ts";

export interface LivePod {
  readonly pod: string;
  readonly phase: string;
  readonly hasProxy: boolean;
  /** Whether the proxy is a native sidecar: an init container that keeps running. */
  readonly isNative: boolean;
  /** The revision that injected the pod; `null` if the status annotation does not name it. */
  readonly revision: string | null;
  /** The image of the proxy; `null` without a proxy. */
  readonly image: string | null;
  /** Whether the kubelet reports the proxy as ready. */
  readonly isReady: boolean;
}

const ENDED = ["Succeeded", "Failed"];

/** Whether a pod is neither completed nor terminating. */
export function isAlive({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && !ENDED.includes(status?.phase ?? "");
}

export function livePod(pod: Pod): LivePod {
  const proxy = findProxy(pod);
  const isNative = containersOf(pod, "initContainers").some((each) => each === proxy);
  return {
    pod: pod.metadata.name,
    phase: pod.status?.phase ?? "",
    hasProxy: proxy !== undefined,
    isNative,
    revision: revisionOf(pod),
    image: proxy === undefined ? null : textAt(proxy, "image"),
    isReady: proxy !== undefined && statusOf(pod, textAt(proxy, "name"))?.ready === true,
  };
}

const STATUS = "sidecar.istio.io/status";

/** Returns the revision in the status annotation, which Istio 1.9 and later set; `null` if absent. */
export function revisionOf({ metadata }: Pod): string | null {
  const status = parseJson(metadata.annotations?.[STATUS] ?? "");
  return isMap(status) ? textAt(status, "revision") || null : null;
}

/** Returns the status of a container as the kubelet reports it. */
export function statusOf({ status }: Pod, container: string): Plain<V1ContainerStatus> | undefined {
  const all = [...status?.containerStatuses ?? [], ...status?.initContainerStatuses ?? []];
  return all.find(({ name }) => name === container);
}
