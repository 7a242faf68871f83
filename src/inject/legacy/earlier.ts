/** Removes an earlier injection from a pod. */
import { ANNOTATION } from "../../istio/mod.ts";
import { mapsAt, textAt } from "../../base/value.ts";
import { withAnnotations, withSpecKey } from "../pod/change.ts";
import {
  containerNamed,
  CORE_DUMP,
  envValue,
  INIT,
  type Pod,
  PROBERS_ENV,
  PROMETHEUS_ENV,
  PROXY,
  specOf,
} from "../pod/pod.ts";
import { prometheusAnnotations, withoutPrometheus } from "../pod/prometheus_annotations.ts";
import { INJECTED_LISTS, type InjectionStatus, readStatus } from "../pod/status.ts";

/** A pod whose earlier injection is removed, with settings of the removed proxy. */
export interface Bare {
  readonly pod: Pod;
  /** ISTIO_KUBE_APP_PROBERS of the removed proxy. */
  readonly probers: string | undefined;
  /** ISTIO_PROMETHEUS_ANNOTATIONS of the removed proxy. */
  readonly prometheus: string | undefined;
}

/** Names of the items that were injected by releases without a status annotation. */
const BEFORE_STATUS: InjectionStatus = {
  initContainers: [INIT, CORE_DUMP],
  containers: [PROXY],
  volumes: ["istio-certs", "istio-envoy"],
  imagePullSecrets: [],
};

/**
 * Removes the containers, volumes and secrets of an earlier injection. The names come from the status annotation; without the
 * annotation, BEFORE_STATUS applies. Also removes Prometheus annotations with the port `statusPort`, which injection added.
 */
export function withoutEarlier(pod: Pod, statusPort: string): Bare {
  const names = listed(pod);
  const proxy = names.containers.includes(PROXY) ? containerNamed(mapsAt(specOf(pod), "containers"), PROXY) : undefined;
  let bare = pod;
  for (const list of INJECTED_LISTS) {
    bare = without(bare, list, names[list]);
  }
  bare = prometheusAnnotations(pod).port === statusPort && proxy !== undefined ? withoutPrometheus(bare) : bare;
  return {
    pod: readStatus(pod) === undefined ? bare : withAnnotations(bare, { [ANNOTATION.status]: undefined }),
    probers: proxy === undefined ? undefined : envValue(proxy, PROBERS_ENV),
    prometheus: proxy === undefined ? undefined : envValue(proxy, PROMETHEUS_ENV),
  };
}

function listed(pod: Pod): InjectionStatus {
  const status = readStatus(pod);
  return status === undefined || Object.values(status).every((names) => names.length === 0) ? BEFORE_STATUS : status;
}

function without(pod: Pod, list: keyof InjectionStatus, names: readonly string[]): Pod {
  const before = mapsAt(specOf(pod), list);
  const left = before.filter((item) => !names.includes(textAt(item, "name")));
  return left.length === before.length ? pod : withSpecKey(pod, list, left.length === 0 ? undefined : left);
}
