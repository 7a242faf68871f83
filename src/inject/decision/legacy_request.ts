/** What a pod says about its own injection, as the releases of 1.0 to 1.8 read it. */
import { ANNOTATION } from "../../core/mesh/mod.ts";
import { type Answer, no } from "./answer.ts";
import { annotation, containerNamed, containersOf, labelsOf, type Pod, PROXY } from "../pod/pod.ts";

/** What counts as yes, in any case (http://yaml.org/type/bool.html); everything else that is not empty is no. */
const YES = new Set(["y", "yes", "true", "on"]);

/** The answer of the annotation `sidecar.istio.io/inject`, if it has one. The label of that name came with 1.9. */
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
 * Manifests that have the proxy beside other containers are left alone where a person names them, as kube-inject left
 * them. (The webhook of those releases took out what was injected and injected anew.)
 */
export function alreadyInjected(pod: Pod, byHand: boolean): Answer | undefined {
  const containers = containersOf(pod, "containers");
  if (!byHand || containers.length < 2 || containerNamed(containers, PROXY) === undefined) return undefined;
  return no("already-injected", "spec.containers", `it has a container "${PROXY}" already`);
}

/** A label that these releases do not read, but that people know from later ones. */
export function legacyWarnings(pod: Pod): readonly string[] {
  if (labelsOf(pod)[ANNOTATION.inject] === undefined) return [];
  return [
    `The label "${ANNOTATION.inject}" is not read with a configuration of Istio 1.0 to 1.8: write it as an annotation`,
  ];
}
