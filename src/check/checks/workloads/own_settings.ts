import type { Pod } from "../../../core/kube/client/mod.ts";

/** The annotation's text, if there is one. */
export function annotationIn({ metadata }: Pod, name: string): string | undefined {
  return metadata.annotations?.[name];
}

/** Annotations by which a pod chooses another proxy than that of its control plane. */
const CHOOSING = [
  "inject.istio.io/templates",
  "proxy.istio.io/config",
  "proxy.istio.io/overrides",
  "sidecar.istio.io/proxyImage",
  "sidecar.istio.io/proxyImageType",
];

/** Whether the pod's proxy may differ from that of others by its own wish. */
export function hasOwnTemplate(pod: Pod): boolean {
  return CHOOSING.some((name) => annotationIn(pod, name) !== undefined);
}
