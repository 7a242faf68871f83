/** The order of labels and annotations tells who wrote them. */
import { ANNOTATION, LABEL } from "../../istio/mod.ts";
import { mapAt } from "../../base/value.ts";
import { metadataOf, type Pod } from "../pod/pod.ts";

/** What only injection writes, and writes first, by map. */
const FIRST = { labels: LABEL.tlsMode, annotations: ANNOTATION.revision } as const;

/**
 * Whether a label or annotation was in the pod before injection: it stands before one of injection in a text that is not
 * sorted. Injection puts its own behind those of the user, and istioctl and API servers sort them all.
 */
export function isOlder(pod: Pod, map: keyof typeof FIRST, name: string): boolean {
  const names = Object.keys(mapAt(metadataOf(pod), map));
  const at = names.indexOf(name);
  const first = FIRST[map];
  return at >= 0 && at < names.indexOf(first) && name > first;
}
