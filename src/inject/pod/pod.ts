/** Reads the fields of a pod. */
import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";

/** A Pod, or the pod template of a controller: `metadata` and `spec` may be absent. */
export type Pod = ValueMap;

/** Name of a list of containers in a pod's spec. */
export type ContainerList = "containers" | "initContainers";

/** Name of the proxy container, in containers or init containers. */
export const PROXY = "istio-proxy";
/** Init containers of Istio's templates: they set up capture, validate capture, and enable core dumps. */
export const INIT = "istio-init";
export const VALIDATION = "istio-validation";
export const CORE_DUMP = "enable-core-dump";
/** Names of the proxy's environment variables that injection reads or writes. */
export const PROBERS_ENV = "ISTIO_KUBE_APP_PROBERS";
export const PROMETHEUS_ENV = "ISTIO_PROMETHEUS_ANNOTATIONS";
export const NETWORK_ENV = "ISTIO_META_NETWORK";
export const CLUSTER_ENV = "ISTIO_META_CLUSTER_ID";
/** Names of the containers that Istio's templates add. */
export const TEMPLATE_CONTAINERS: readonly string[] = [INIT, VALIDATION, CORE_DUMP, PROXY];

export function metadataOf(pod: Pod): ValueMap {
  return mapAt(pod, "metadata");
}

export function specOf(pod: Pod): ValueMap {
  return mapAt(pod, "spec");
}

export function annotationsOf(pod: Pod): ValueMap {
  return mapAt(metadataOf(pod), "annotations");
}

export function labelsOf(pod: Pod): ValueMap {
  return mapAt(metadataOf(pod), "labels");
}

/** The value of an annotation as text; `undefined` if the pod does not have the annotation. */
export function annotation(pod: Pod, name: string): string | undefined {
  const value = annotationsOf(pod)[name];
  return typeof value === "string" ? value : undefined;
}

export function containersOf(pod: Pod, list: ContainerList): readonly ValueMap[] {
  return mapsAt(specOf(pod), list);
}

/** All containers, init containers first, in Istio's order. */
export function allContainers(pod: Pod): readonly ValueMap[] {
  return [...containersOf(pod, "initContainers"), ...containersOf(pod, "containers")];
}

/** Finds a container by name; `undefined` if the list does not contain it. */
export function containerNamed(list: readonly ValueMap[], name: string): ValueMap | undefined {
  return list.find((container) => container["name"] === name);
}

/** Finds the proxy among the containers and the init containers. */
export function findProxy(pod: Pod): ValueMap | undefined {
  return containerNamed(containersOf(pod, "containers"), PROXY) ??
    containerNamed(containersOf(pod, "initContainers"), PROXY);
}

/** The value of a container's environment variable; `undefined` if it is not set, `""` if it uses `valueFrom`. */
export function envValue(container: ValueMap, name: string): string | undefined {
  const variable = containerNamed(mapsAt(container, "env"), name);
  return variable === undefined ? undefined : textAt(variable, "value");
}
