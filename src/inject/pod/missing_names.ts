/** Names that a pod lacks: merging and Kubernetes both need them. */
import { mapsAt } from "../../core/value.ts";
import { type Pod, specOf } from "./pod.ts";

/** Lists of a pod that merge by name. */
const NAMED = ["initContainers", "containers", "volumes"] as const;

/** Field paths of missing names: `spec.containers[0].name`. */
export function missingNames(pod: Pod): readonly string[] {
  return NAMED.flatMap((list) =>
    mapsAt(specOf(pod), list).flatMap((item, index) =>
      item["name"] === undefined || item["name"] === "" ? [`spec.${list}[${index}].name`] : []
    )
  );
}
