/** Removes the injection from the pods in a document. */
import { ANNOTATION } from "../../istio/mod.ts";
import { mapAt, type ValueMap } from "../../base/value.ts";
import type { Change } from "../document/document.ts";
import { hasPod, isCustom, type WorkloadKind } from "../pod/kinds.ts";
import { fieldIn, inPodOf, withoutTemplate } from "../document/pod_row.ts";
import { ownerOf, podIn, withPod } from "../pod/workload.ts";
import { withAt, withKey } from "../pod/change.ts";
import { annotation, containersOf, metadataOf, type Pod } from "../pod/pod.ts";
import { type Doubt, type Evidence, evidenceOf } from "./evidence.ts";
import { InjectionError } from "../injection_error.ts";
import { annotations, ownTemplates } from "./annotations.ts";
import { containers, defaultNames, pullSecrets, volumes } from "./containers.ts";
import { labels } from "./labels.ts";
import { dns, securityContext } from "./pod_fields.ts";
import { probes } from "./probes.ts";
import { prometheus } from "./prometheus.ts";

/** The change that removes the injection from a workload's pod. A pod that is not injected stays unchanged. */
export const uninjection: Change = (value, row, options) => {
  if (isCustom(row) && !hasPod(value, row)) return withoutTemplate(value, row);
  const place = placeIn(value, row);
  const pod = place.read(value);
  const owner = ownerOf(value, row, options.namespace ?? "");
  return inPodOf(row, () => {
    const evidence = evidenceOf(pod, owner, row.containerName);
    if (evidence === undefined) return { ...NOT_INJECTED, warnings: [], next: value };
    const doubts: Doubt[] = [];
    const bare = uninjectPod(pod, evidence, doubts);
    const field = fieldIn(evidence.hasStatus ? STATUS : "spec.containers", row);
    const unknown = doubts.map((doubt) => `${fieldIn(doubt.field, row)}: ${doubt.message}`);
    const warnings = evidence.hasStatus ? unknown : [BY_NAMES, ...unknown];
    return {
      result: "uninjected",
      reason: "uninjected",
      field,
      message: "the injection is removed",
      warnings,
      next: place.write(value, bare),
    };
  });
};

const STATUS = `metadata.annotations["${ANNOTATION.status}"]`;

const NOT_INJECTED = { result: "skipped", reason: "not-injected", field: "", message: "not injected" } as const;

const BY_NAMES = `The annotation "${ANNOTATION.status}" is missing; injected items are detected by their names`;

interface Place {
  readonly read: (manifest: ValueMap) => Pod;
  readonly write: (manifest: ValueMap, pod: Pod) => ValueMap;
}

/** Returns where the pod is. For a CronJob, istioctl writes the injected pod's metadata to `jobTemplate`. */
function placeIn(manifest: ValueMap, row: WorkloadKind): Place {
  const job = mapAt(mapAt(manifest, "spec"), "jobTemplate");
  const plain: Place = { read: (value) => podIn(value, row), write: (value, pod) => withPod(value, row, pod) };
  if (row.kind !== "CronJob" || annotation(job, ANNOTATION.status) === undefined) return plain;
  return {
    read: (value) => withKey(podIn(value, row), "metadata", metadataOf(job)),
    write: (value, pod) => {
      const bare = withPod(value, row, withKey(pod, "metadata", podIn(value, row)["metadata"]));
      const changed = mapAt(mapAt(bare, "spec"), "jobTemplate");
      return withAt(bare, ["spec", "jobTemplate"], withKey(changed, "metadata", pod["metadata"] ?? undefined));
    },
  };
}

/** Undoes one part of an injection. Adds fields whose original value is unknown to `doubts`. */
type UndoStep = (pod: Pod, evidence: Evidence, doubts: Doubt[]) => Pod;

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
function uninjectPod(pod: Pod, evidence: Evidence, doubts: Doubt[]): Pod {
  const undone = STEPS.reduce((before, step) => step(before, evidence, doubts), pod);
  if (containersOf(undone, "containers").length > 0) return undone;
  const message = "Injection added every container of the pod, so no container would be left";
  throw new InjectionError("no-containers", message, {
    place: { field: "spec.containers" },
    hint: "check the annotation sidecar.istio.io/status, which lists the injected items",
  });
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
