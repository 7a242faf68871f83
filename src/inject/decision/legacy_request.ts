/** The request of a pod for or against injection, as Istio 1.0 to 1.8 reads it. */
import { ANNOTATION } from "../../istio/mod.ts";
import { type Answer, no } from "./answer.ts";
import { annotation, containerNamed, containersOf, labelsOf, type Pod, PROXY } from "../pod/pod.ts";

/** Texts that mean yes, in any case (http://yaml.org/type/bool.html); all other texts but "" mean no. */
const YES = new Set(["y", "yes", "true", "on"]);

/** The answer of the annotation `sidecar.istio.io/inject`. The label of that name is newer (1.9). */
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
 * Skips named manifests that have the proxy beside other containers, as kube-inject did. (The webhook of those releases
 * injected them again.)
 */
export function alreadyInjected(pod: Pod, byHand: boolean): Answer | undefined {
  const containers = containersOf(pod, "containers");
  if (!byHand || containers.length < 2 || containerNamed(containers, PROXY) === undefined) return undefined;
  return no("already-injected", "spec.containers", `the pod already has a container "${PROXY}"`);
}

/** Warns about the label, which these releases do not read. */
export function legacyWarnings(pod: Pod): readonly string[] {
  if (labelsOf(pod)[ANNOTATION.inject] === undefined) return [];
  return [
    `The label "${ANNOTATION.inject}" is ignored with a configuration of Istio 1.0 to 1.8: use the annotation of that name`,
  ];
}
