/** Removes the injection from one pod. */
import { mapAt } from "../../base/value.ts";
import { InjectionError } from "../injection_error.ts";
import { withKey } from "../pod/change.ts";
import { containersOf, metadataOf, type Pod } from "../pod/pod.ts";
import { annotations, ownTemplates } from "./annotations.ts";
import { containers, defaultNames, pullSecrets, volumes } from "./containers.ts";
import type { Evidence } from "./evidence.ts";
import { labels } from "./labels.ts";
import { dns, securityContext } from "./pod_fields.ts";
import { probes } from "./probes.ts";
import { prometheus } from "./prometheus.ts";
import type { Doubt, UndoStep } from "./step.ts";

/** The steps, in order: `volumes` needs the result of `containers`, and `annotations` removes what earlier steps read. */
const STEPS: readonly UndoStep[] = [
  probes,
  prometheus,
  labels,
  securityContext,
  dns,
  containers,
  volumes,
  pullSecrets,
  ownTemplates,
  annotations,
  defaultNames,
  withoutEmptyMetadata,
];

/**
 * Returns the pod without its injection. Adds fields whose original value is unknown to `doubts`. Does not modify `pod`.
 * Throws an InjectionError if the pod would have no containers left.
 */
export function uninjectPod(pod: Pod, evidence: Evidence, doubts: Doubt[]): Pod {
  const undone = STEPS.reduce((before, step) => step(before, evidence, doubts), pod);
  if (containersOf(undone, "containers").length > 0) return undone;
  throw new InjectionError(
    "no-containers",
    "Injection added every container of the pod, so no container would be left",
    {
      place: { field: "spec.containers" },
      hint: "check the annotation sidecar.istio.io/status, which lists the injected items",
    },
  );
}

/** Removes empty labels, annotations and metadata, which injection may have added. */
function withoutEmptyMetadata(pod: Pod): Pod {
  const before = metadataOf(pod);
  const after = (["labels", "annotations"] as const).reduce(
    (metadata, key) =>
      metadata[key] !== undefined && Object.keys(mapAt(metadata, key)).length === 0
        ? withKey(metadata, key, undefined)
        : metadata,
    before,
  );
  if (after === before) return pod;
  if (Object.keys(after).length > 0) return withKey(pod, "metadata", after);
  // Injection appends missing metadata as the last key. In another position, the user wrote `metadata:` without a value.
  return withKey(pod, "metadata", Object.keys(pod).at(-1) === "metadata" ? undefined : null);
}
