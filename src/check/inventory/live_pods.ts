/** Reads live pods and their proxies. */
import { parseJson } from "../../base/json.ts";
import type { V1ContainerStatus } from "@kubernetes/client-node/models";
import type { Plain, Pod } from "../../kube/client/mod.ts";
import { isMap, textAt } from "../../base/value.ts";
import { containersOf, findProxy } from "../../inject/mod.ts";

/** A live pod and its proxy, as `check injection -o json` prints it. */
export interface LivePod {
  readonly pod: string;
  readonly phase: string;
  readonly proxy: boolean;
  /** Whether the proxy is a native sidecar: an init container that keeps running. */
  readonly native: boolean;
  readonly ready: boolean;
  /** The revision that injected the pod; `null` if the status annotation does not name it. */
  readonly revision: string | null;
  /** The image of the proxy; `null` without a proxy. */
  readonly image: string | null;
}

const ENDED = ["Succeeded", "Failed"];

/** Whether a pod is neither completed nor terminating. */
export function isAlive({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && !ENDED.includes(status?.phase ?? "");
}

export function livePod(pod: Pod): LivePod {
  const proxy = findProxy(pod);
  return {
    pod: pod.metadata.name,
    phase: pod.status?.phase ?? "",
    proxy: proxy !== undefined,
    native: containersOf(pod, "initContainers").some((each) => each === proxy),
    ready: proxy !== undefined && statusOf(pod, textAt(proxy, "name"))?.ready === true,
    revision: revisionOf(pod),
    image: proxy === undefined ? null : textAt(proxy, "image"),
  };
}

const STATUS = "sidecar.istio.io/status";

/** Returns the revision in the status annotation, which Istio 1.9 and later set; `null` if absent. */
export function revisionOf({ metadata }: Pod): string | null {
  const status = parseJson(metadata.annotations?.[STATUS] ?? "");
  return isMap(status) ? textAt(status, "revision") || null : null;
}

export function statusOf({ status }: Pod, container: string): Plain<V1ContainerStatus> | undefined {
  const all = [...status?.containerStatuses ?? [], ...status?.initContainerStatuses ?? []];
  return all.find(({ name }) => name === container);
}
