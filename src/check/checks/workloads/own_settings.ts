import type { KubeObject } from "../../../core/kube/client/mod.ts";
import { mapAt } from "../../../core/value.ts";
import { metadataOf } from "../../../inject/mod.ts";

/** The annotation's text, if there is one. */
export function annotationIn(pod: KubeObject, name: string): string | undefined {
  const value = mapAt(metadataOf(pod), "annotations")[name];
  return typeof value === "string" ? value : undefined;
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
export function hasOwnTemplate(pod: KubeObject): boolean {
  return CHOOSING.some((name) => annotationIn(pod, name) !== undefined);
}
