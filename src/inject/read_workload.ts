/** Reads the workload in a manifest as Istio does, for `inject` and `check injection -f`. */
import { decode, problemTexts } from "../kube/mod.ts";
import { textAt, type ValueMap } from "../base/value.ts";
import { InjectionError } from "./injection_error.ts";
import { conform, type Misread } from "./document/conform.ts";
import { inPodOf } from "./document/pod_row.ts";
import { withKey, withSpecKey } from "./pod/change.ts";
import { defaultName, hasPod, isCustom, type WorkloadKind } from "./pod/kinds.ts";
import { containersOf, type Pod } from "./pod/pod.ts";
import { podIn, withPod } from "./pod/workload.ts";

/** A manifest as Istio reads it, with notes about converted fields. */
export interface ReadWorkload {
  readonly manifest: ValueMap;
  /** Fields that Kubernetes would reject or ignore. `manifest` contains the values that Istio reads. */
  readonly misread: readonly Misread[];
}

/**
 * Reads a workload. Returns `undefined` if a custom kind has no pod template, such as a Rollout that refers to a Deployment.
 * Throws an InjectionError that lists all invalid fields.
 */
export function readWorkload(value: ValueMap, row: WorkloadKind): ReadWorkload | undefined {
  if (!isCustom(row)) return readTyped(value, row);
  if (!hasPod(value, row)) return undefined;
  const { manifest: pod, misread } = inPodOf(row, () => readTyped(podIn(value, row), row));
  return {
    manifest: withPod(value, row, withContainerNames(pod, row.containerName)),
    misread: misread.map((each) => ({ ...each, path: [...row.path, ...each.path] })),
  };
}

function readTyped(value: ValueMap, row: WorkloadKind): ReadWorkload {
  const { value: typed, problems, isAsWritten } = decode(value, row.type);
  const [first] = problems;
  if (first === undefined) return isAsWritten ? { manifest: value, misread: [] } : conform(value, typed, row.type);
  throw new InjectionError("invalid-manifest", `The ${row.kind} cannot be read: ${problemTexts(problems)}`, {
    place: { field: first.field },
  });
}

/**
 * Names nameless containers as the kind's controller does. If the pod has several containers, the names get numbers.
 */
function withContainerNames(pod: Pod, name: string | undefined): Pod {
  const containers = containersOf(pod, "containers");
  if (name === undefined || containers.every((container) => textAt(container, "name") !== "")) return pod;
  const named = containers.map((container, index) =>
    textAt(container, "name") === ""
      ? withKey(container, "name", defaultName(name, index, containers.length))
      : container
  );
  return withSpecKey(pod, "containers", named);
}
