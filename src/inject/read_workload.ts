/** The workload in a manifest as Istio reads it: `inject` and `check injection -f` both judge this. */
import { decode, problemTexts } from "../kube/mod.ts";
import { textAt, type ValueMap } from "../base/value.ts";
import { InjectionError } from "./injection_error.ts";
import { conform, type Misread } from "./document/conform.ts";
import { inPodOf } from "./document/pod_row.ts";
import { withKey, withSpecKey } from "./pod/change.ts";
import { defaultName, hasPod, isCustom, type WorkloadKind } from "./pod/kinds.ts";
import { containersOf, type Pod } from "./pod/pod.ts";
import { podIn, withPod } from "./pod/workload.ts";

/** A workload that has been read. */
export interface ReadWorkload {
  readonly manifest: ValueMap;
  /** Fields that Kubernetes refuses or ignores as they are written; `manifest` has them as Istio reads them. */
  readonly misread: readonly Misread[];
}

/**
 * Reads a workload; `undefined` for a custom kind without a pod template: a Rollout may refer to a Deployment instead.
 * Errors: an InjectionError that names every invalid field.
 */
export function readWorkload(value: ValueMap, row: WorkloadKind): ReadWorkload | undefined {
  if (!isCustom(row)) return readTyped(value, row);
  if (!hasPod(value, row)) return undefined;
  const { manifest: pod, misread } = inPodOf(row, () => readTyped(podIn(value, row), row));
  return {
    manifest: withPod(value, row, withContainerNames(pod, row.containerName)),
    misread: misread.map(({ path, message }) => ({ path: [...row.path, ...path], message })),
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

/** Names containers as the controller of the kind does: several get a number. */
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
