/** What has no name cannot be told from its neighbours, neither by a merge nor by Kubernetes. */
import { mapsAt } from "../../core/value.ts";
import { type Pod, specOf } from "./pod.ts";

/** Lists of a pod whose items templates are merged with by name. */
const NAMED = ["initContainers", "containers", "volumes"] as const;

/** Field paths of the names that a pod lacks: `spec.containers[0].name`. */
export function missingNames(pod: Pod): readonly string[] {
  return NAMED.flatMap((list) =>
    mapsAt(specOf(pod), list).flatMap((item, index) =>
      item["name"] === undefined || item["name"] === "" ? [`spec.${list}[${index}].name`] : []
    )
  );
}
