/** Who wrote a label or annotation, by their order. */
import { ANNOTATION, LABEL } from "../../istio/mod.ts";
import { mapAt } from "../../base/value.ts";
import { metadataOf, type Pod } from "../pod/pod.ts";

/** The first entry that only injection writes, by map. */
const FIRST = { labels: LABEL.tlsMode, annotations: ANNOTATION.revision } as const;

/**
 * Whether a label or annotation was in the pod before injection: it stands before an injected one, and the map is not
 * sorted. Injection appends its entries to the user's; istioctl and API servers sort all.
 */
export function isOlder(pod: Pod, map: keyof typeof FIRST, name: string): boolean {
  const names = Object.keys(mapAt(metadataOf(pod), map));
  const at = names.indexOf(name);
  const first = FIRST[map];
  return at >= 0 && at < names.indexOf(first) && name > first;
}
