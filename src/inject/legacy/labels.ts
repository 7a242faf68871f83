/** Adds the labels that do not come from a template. */
import { LABEL } from "../../istio/mod.ts";
import { textAt } from "../../base/value.ts";
import { withLabels } from "../pod/change.ts";
import { labelsOf, type Pod } from "../pod/pod.ts";
import { has } from "./features.ts";

interface LabelSettings {
  readonly minor: number;
  readonly revision: string;
  readonly workload: string;
}

/** Adds the labels that the release sets. Existing values stay. */
export function addLabels(pod: Pod, settings: LabelSettings): Pod {
  const labels = labelsOf(pod);
  const added = Object.entries(labelsFor(pod, settings)).filter(([name]) => textAt(labels, name) === "");
  return added.length === 0 ? pod : withLabels(pod, Object.fromEntries(added));
}

function labelsFor(pod: Pod, { minor, revision, workload }: LabelSettings): Record<string, string> {
  return {
    ...(has(minor, "tlsModeLabel") ? { [LABEL.tlsMode]: "istio" } : {}),
    ...(has(minor, "revisionLabel") ? { [LABEL.revision]: revision } : {}),
    ...(has(minor, "canonicalLabels") ? canonical(pod, workload) : {}),
  };
}

function canonical(pod: Pod, workload: string): Record<string, string> {
  return {
    [LABEL.canonicalName]: firstLabel(pod, [LABEL.canonicalName, LABEL.recommendedName, LABEL.app]) ?? workload,
    [LABEL.canonicalRevision]: firstLabel(pod, [LABEL.canonicalRevision, LABEL.recommendedVersion, LABEL.version]) ??
      "latest",
  };
}

/** The value of the first label that exists, even if it is empty. */
function firstLabel(pod: Pod, names: readonly string[]): string | undefined {
  const labels = labelsOf(pod);
  const name = names.find((candidate) => labels[candidate] !== undefined);
  return name === undefined ? undefined : textAt(labels, name);
}
