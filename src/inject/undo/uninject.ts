/** Removes the injection from the pods in a document. */
import { ANNOTATION } from "../../istio/mod.ts";
import { mapAt, type ValueMap } from "../../base/value.ts";
import type { Change } from "../document/document.ts";
import { hasPod, isCustom, type WorkloadKind } from "../pod/kinds.ts";
import { fieldIn, inPodOf, withoutTemplate } from "../document/pod_row.ts";
import { ownerOf, podIn, withPod } from "../pod/workload.ts";
import { withAt, withKey } from "../pod/change.ts";
import { annotation, metadataOf, type Pod } from "../pod/pod.ts";
import { evidenceOf } from "./evidence.ts";
import type { Doubt } from "./step.ts";
import { uninjectPod } from "./uninject_pod.ts";

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

/** Reads and replaces the pod in a manifest. */
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
