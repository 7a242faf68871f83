/** Takes out of a pod what an injection put in. */
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

/** Containers come before volumes, which go if no container mounts them. Annotations come last: other steps read them. */
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
 * The pod without its injection; `doubts` gets what cannot be known. The pod itself is not changed.
 * Errors: an InjectionError for a pod that would be left without containers.
 */
export function uninjectPod(pod: Pod, evidence: Evidence, doubts: Doubt[]): Pod {
  const undone = STEPS.reduce((before, step) => step(before, evidence, doubts), pod);
  if (containersOf(undone, "containers").length > 0) return undone;
  throw new InjectionError("no-containers", "Every container comes from injection: none would be left", {
    place: { field: "spec.containers" },
    hint: "Look at the annotation sidecar.istio.io/status, which names what was injected",
  });
}

/** Injection adds the maps that the pod does not have. */
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
  // Injection appends what the template does not have, so this was `metadata:` without a value.
  return withKey(pod, "metadata", Object.keys(pod).at(-1) === "metadata" ? undefined : null);
}
