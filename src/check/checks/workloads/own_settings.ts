import type { Pod } from "../../../core/kube/client/mod.ts";

/** The annotation's value. */
export function annotationIn({ metadata }: Pod, name: string): string | undefined {
  return metadata.annotations?.[name];
}

/** Annotations that change the proxy of a pod. */
const CHOOSING = [
  "inject.istio.io/templates",
  "proxy.istio.io/config",
  "proxy.istio.io/overrides",
  "sidecar.istio.io/proxyImage",
  "sidecar.istio.io/proxyImageType",
];

/** Whether the pod's own annotations may change its proxy. */
export function hasOwnTemplate(pod: Pod): boolean {
  return CHOOSING.some((name) => annotationIn(pod, name) !== undefined);
}
