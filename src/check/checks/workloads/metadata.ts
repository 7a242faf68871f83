/** What the rules of `inject` find about labels and annotations of workloads in the cluster. */
import { findingsOf, podIn, RULES } from "../../../inject/mod.ts";
import { LABEL } from "../../../istio/annotations/labels.ts";
import { type Advice, byHand, harmless } from "../../advice/advice.ts";
import { edit } from "../../advice/commands.ts";
import type { ProblemOf } from "../findings.ts";
import type { Target } from "../../injection/target.ts";
import { namedOf } from "../../injection/workload_advice.ts";

/** Rules that need no injected pod. */
const WANTED: readonly string[] = ["metadata-misplaced", "annotation-misspelt", "label-misspelt", "proxy-config-key"];
const OTHERS: ReadonlySet<string> = new Set(RULES.map(({ id }) => id).filter((id) => !WANTED.includes(id)));

/** Misspelt and misplaced labels and annotations; `workload-label-place` has the label that asks for injection. */
export function metadataProblems(target: Target): readonly ProblemOf[] {
  const { manifest, row } = target;
  const subject = { manifest, kind: row.kind, path: row.path, pod: podIn(manifest, row), injected: undefined };
  return findingsOf({ ...subject, era: "current" }, OTHERS)
    .filter(({ rule, field }) => rule !== "metadata-misplaced" || !field.endsWith(`["${LABEL.inject}"]`))
    .map(({ field, message, fix }) => ({
      result: "warning",
      message: `${field}: ${message.charAt(0).toLowerCase()}${message.slice(1)}`,
      advice: [correction(target, fix.replace(/^did you mean (".*")\?$/, "rename it to $1"))],
    }));
}

/** Pods and Jobs cannot be edited so. */
function correction(target: Target, change: string): Advice {
  return ["Pod", "Job"].includes(target.row.kind)
    ? byHand(`in its manifest, ${change}, and create it again`, "workload")
    : harmless(change, "workload", edit(namedOf(target)));
}
