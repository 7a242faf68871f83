/** Removes the parts that an earlier injection added to a pod, before templates see the pod or are merged again. */
import { ANNOTATION } from "../../istio/mod.ts";
import { isMap, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { keptFirst, type Overrides } from "./overrides.ts";
import { mapProxy, withAnnotations, withKey, withSpecKey } from "../pod/change.ts";
import {
  CLUSTER_ENV,
  type ContainerList,
  containerNamed,
  containersOf,
  NETWORK_ENV,
  type Pod,
  PROXY,
} from "../pod/pod.ts";
import { prometheusAnnotations, withoutPrometheus } from "../pod/prometheus_annotations.ts";
import type { InjectionStatus } from "../pod/status.ts";

export interface Earlier {
  readonly status: InjectionStatus | undefined;
  readonly kept: Overrides;
}

/**
 * Returns the pod as templates see it: without injected containers, and with the user's overriding containers restored.
 * Also removes Prometheus annotations with the port `statusPort`, which injection added.
 */
export function strip(pod: Pod, { status, kept }: Earlier, statusPort: string): Pod {
  const bare = status === undefined ? pod : stripStatus(pod, status, statusPort);
  const main = [...kept.containers, ...kept.initContainers.filter((container) => !isInit(container))];
  const result = withKept(bare, "initContainers", kept.initContainers.filter(isInit));
  return withKept(result, "containers", main, keptFirst(pod));
}

/**
 * Whether the user wrote a kept override under `initContainers`. The annotation groups overrides by the template's list,
 * so it may list a proxy under `initContainers` that the user wrote under `containers`. Such a proxy has no
 * `restartPolicy`.
 */
export function isInit(container: ValueMap): boolean {
  return container["name"] !== PROXY || container["restartPolicy"] === "Always";
}

function stripStatus(pod: Pod, status: InjectionStatus, statusPort: string): Pod {
  let bare = without(pod, "containers", status.containers);
  bare = without(bare, "initContainers", status.initContainers);
  if (prometheusAnnotations(bare).port === statusPort) bare = withoutPrometheus(bare);
  return withAnnotations(bare, { [ANNOTATION.status]: undefined });
}

function without(pod: Pod, list: ContainerList, names: readonly string[]): Pod {
  if (names.length === 0) return pod;
  const left = containersOf(pod, list).filter((container) => !names.includes(textAt(container, "name")));
  return withSpecKey(pod, list, left);
}

function withKept(pod: Pod, list: ContainerList, kept: readonly ValueMap[], isFirst = false): Pod {
  const present = containersOf(pod, list);
  const absent = kept.filter((container) => containerNamed(present, textAt(container, "name")) === undefined);
  return absent.length === 0
    ? pod
    : withSpecKey(pod, list, isFirst ? [...absent, ...present] : [...present, ...absent]);
}

/**
 * Returns the base pod for merging templates: without the proxy's cluster and network variables, which post-processing
 * appends again. If they stayed, merging would also move the user's variables.
 */
export function mergeBase(pod: Pod, { status }: Earlier): Pod {
  if (status === undefined) return pod;
  const moved = [CLUSTER_ENV, NETWORK_ENV];
  return mapProxy(pod, (proxy) => {
    const env = mapsAt(proxy, "env");
    const left = env.filter((variable) => !isMap(variable) || !moved.includes(textAt(variable, "name")));
    return left.length === env.length ? proxy : withKey(proxy, "env", left);
  });
}
