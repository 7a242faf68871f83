/** Applies the rules of `inject` to labels and annotations of workloads in the cluster. */
import { annotationsOf, fieldIn, findingsOf, podIn, RULES } from "../../../inject/mod.ts";
import { LABEL } from "../../../istio/annotations/labels.ts";
import { validateAnnotations } from "../../../istio/mod.ts";
import { type Advice, byHand, harmless } from "../../advice/advice.ts";
import { edit } from "../../advice/commands.ts";
import { ofField, type ProblemOf } from "../findings.ts";
import type { Target } from "../../injection/target.ts";
import { namedOf } from "../../injection/workload_advice.ts";

/** Rules that do not need an injected pod. */
const WANTED: readonly string[] = [
  "metadata-misplaced",
  "annotation-misspelt",
  "annotation-deprecated",
  "label-misspelt",
  "proxy-config-key",
];
const OTHERS: ReadonlySet<string> = new Set(RULES.map(({ id }) => id).filter((id) => !WANTED.includes(id)));

/** Applies the rules. Leaves out a misplaced label that requests injection, which `workload-label-place` reports. */
export function metadataProblems(target: Target): readonly ProblemOf[] {
  const { manifest, row } = target;
  const subject = { manifest, kind: row.kind, path: row.path, pod: podIn(manifest, row), injected: undefined };
  const found = findingsOf({ ...subject, era: "current" }, OTHERS)
    .filter(({ rule, field }) => rule !== "metadata-misplaced" || !field.endsWith(`["${LABEL.inject}"]`))
    .map(({ field, message, fix, severity }): ProblemOf => ({
      result: severity,
      message: ofField({ field, message }),
      advice: [correction(target, fix.replace(/^did you mean (".*")\?$/, "rename it to $1"))],
    }));
  return [...found, ...refused(target)];
}

/** Warns about values that injection refuses. No error, because pods may be older than the value or not in the mesh. */
function refused(target: Target): readonly ProblemOf[] {
  const texts = Object.entries(annotationsOf(podIn(target.manifest, target.row)))
    .filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return validateAnnotations(Object.fromEntries(texts), "current").map(({ annotation, message }) => ({
    result: "warning",
    message: `${fieldIn(`metadata.annotations["${annotation}"]`, target.row)}: injection refuses the pod: ${message}`,
    advice: [correction(target, "correct the value")],
  }));
}

/** Advice to edit the workload. Pods and Jobs cannot be edited this way and must be recreated. */
function correction(target: Target, change: string): Advice {
  return ["Pod", "Job"].includes(target.row.kind)
    ? byHand(`in its manifest, ${change}, then recreate the object`, "workload")
    : harmless(change, "workload", edit(namedOf(target)));
}
