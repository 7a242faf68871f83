/** Reads a pod as plain data. */
import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";

/** A Pod, or the pod template of a controller: `metadata` and `spec` may be absent. */
export type Pod = ValueMap;

/** The two lists of containers in a pod. */
export type ContainerList = "containers" | "initContainers";

/** The name of the proxy container, in either list. */
export const PROXY = "istio-proxy";
/** The init containers of Istio's templates: capture, its validation, core dumps. */
export const INIT = "istio-init";
export const VALIDATION = "istio-validation";
export const CORE_DUMP = "enable-core-dump";
/** Containers that Istio's templates add. */
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

/** The annotation's text; `undefined` if the pod does not have it. */
export function annotation(pod: Pod, name: string): string | undefined {
  const value = annotationsOf(pod)[name];
  return typeof value === "string" ? value : undefined;
}

export function containersOf(pod: Pod, list: ContainerList): readonly ValueMap[] {
  return mapsAt(specOf(pod), list);
}

/** Every container, init containers first: the order in which Istio visits them. */
export function allContainers(pod: Pod): readonly ValueMap[] {
  return [...containersOf(pod, "initContainers"), ...containersOf(pod, "containers")];
}

/** The container with that name in the list. */
export function containerNamed(list: readonly ValueMap[], name: string): ValueMap | undefined {
  return list.find((container) => container["name"] === name);
}

/** The proxy container, or the native sidecar among the init containers. */
export function findProxy(pod: Pod): ValueMap | undefined {
  return containerNamed(containersOf(pod, "containers"), PROXY) ??
    containerNamed(containersOf(pod, "initContainers"), PROXY);
}

/** The value of an environment variable of a container; `undefined` without the variable, `""` without a plain value. */
export function envValue(container: ValueMap, name: string): string | undefined {
  const variable = containerNamed(mapsAt(container, "env"), name);
  return variable === undefined ? undefined : textAt(variable, "value");
}
