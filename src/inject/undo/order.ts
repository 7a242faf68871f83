/** Detects, from the order of labels and annotations, whether one was in the pod before injection. */
import { ANNOTATION, LABEL } from "../../istio/mod.ts";
import { mapAt } from "../../base/value.ts";
import { metadataOf, type Pod } from "../pod/pod.ts";

/** The first label and the first annotation that only injection writes. */
const FIRST = { labels: LABEL.tlsMode, annotations: ANNOTATION.revision } as const;

/**
 * Whether a label or annotation was certainly in the pod before injection. Injection appends its entries to the user's,
 * so an entry that precedes an injected one is the user's. After istioctl or an API server has sorted all entries,
 * their order shows nothing, so an entry counts only if it is out of sorted order.
 */
export function isOlder(pod: Pod, map: keyof typeof FIRST, name: string): boolean {
  const names = Object.keys(mapAt(metadataOf(pod), map));
  const at = names.indexOf(name);
  const first = FIRST[map];
  return at >= 0 && at < names.indexOf(first) && name > first;
}
