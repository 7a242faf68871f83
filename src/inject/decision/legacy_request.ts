/** Reads the annotation `sidecar.istio.io/inject` by the rules of Istio 1.0 to 1.8. */
import { ANNOTATION } from "../../istio/mod.ts";
import { type Answer, no } from "./answer.ts";
import { annotation, containerNamed, containersOf, labelsOf, type Pod, PROXY } from "../pod/pod.ts";

/** Values that mean true, case-insensitive (http://yaml.org/type/bool.html). All other values mean false; "" means unset. */
const YES = new Set(["y", "yes", "true", "on"]);

/** Decides by the annotation. These releases do not read the label of the same name, which Istio 1.9 added. */
export function legacyRequest(pod: Pod): Answer | undefined {
  const text = annotation(pod, ANNOTATION.inject);
  if (text === undefined || text === "") return undefined;
  const inject = YES.has(text.toLowerCase());
  return {
    inject,
    reason: `annotation-inject-${inject}`,
    field: `metadata.annotations["${ANNOTATION.inject}"]`,
    message: `annotation "${ANNOTATION.inject}" is "${text}"`,
  };
}

/**
 * Skips a pod that already has a proxy container next to other containers, if the user named its manifest, as
 * kube-inject did in Istio 1.0 to 1.8. The webhook of these releases injected such pods again.
 */
export function alreadyInjected(pod: Pod, byHand: boolean): Answer | undefined {
  const containers = containersOf(pod, "containers");
  if (!byHand || containers.length < 2 || containerNamed(containers, PROXY) === undefined) return undefined;
  return no("already-injected", "spec.containers", `the pod already has a container "${PROXY}"`);
}

/** Warns if the pod has the label `sidecar.istio.io/inject`, which these releases do not read. */
export function legacyWarnings(pod: Pod): readonly string[] {
  if (labelsOf(pod)[ANNOTATION.inject] === undefined) return [];
  return [
    `The label "${ANNOTATION.inject}" is ignored with a configuration of Istio 1.0 to 1.8; use the annotation with the same name`,
  ];
}
