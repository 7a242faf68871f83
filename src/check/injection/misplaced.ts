/** Finds injection labels and annotations on the wrong object. */
import { LABEL } from "../../istio/annotations/labels.ts";
import { mapAt } from "../../base/value.ts";
import { labelsOf, metadataOf, podIn } from "../../inject/mod.ts";
import { type Advice, byHand, harmless } from "../advice/advice.ts";
import { removeString } from "../advice/commands.ts";
import type { Target } from "./target.ts";
import { changePod, namedOf } from "./workload_advice.ts";

/** An injection label or annotation that is set on a controller but belongs on its pod template. */
export interface Misplaced {
  readonly of: "labels" | "annotations";
  readonly key: string;
  readonly value: string;
  readonly message: string;
  /** Advice to remove the label or annotation, or to move it to the pod template. */
  readonly advice: readonly Advice[];
}

const STRINGS = ["labels", "annotations"] as const;

/** Finds requests on a controller, where they have no effect (Istio, "Installing the Sidecar"). */
export function misplacedRequests(target: Target): readonly Misplaced[] {
  const { manifest, row } = target;
  if (row.path.length === 0) return [];
  const pod = podIn(manifest, row);
  const said = [labelsOf(pod), mapAt(metadataOf(pod), "annotations")];
  if (said.some((strings) => strings[LABEL.inject] !== undefined)) return [];
  return STRINGS.flatMap((of) => {
    const value = mapAt(metadataOf(manifest), of)[LABEL.inject];
    if (typeof value !== "string") return [];
    const to = [...row.path, "metadata", "labels"].join(".");
    const message = `the ${of.slice(0, -1)} "${LABEL.inject}" is on the ${row.kind} itself, where it has no effect: ` +
      `it belongs to ${to}`;
    return [{ of, key: LABEL.inject, value, message, advice: adviceFor(target, of, value) }];
  });
}

/** Moves a request for a proxy, but removes an opt-out: moving it would take the workload out of the mesh. */
function adviceFor(target: Target, of: Misplaced["of"], value: string): readonly Advice[] {
  const change = changePod(target, { of: "labels", key: LABEL.inject, value });
  const verb = of === "labels" ? "label" : "annotate";
  const away = target.file === undefined ? [removeString(verb, namedOf(target), LABEL.inject)] : [];
  const moved: Advice = {
    ...change,
    change: `move it to the pod template: ${change.change}`,
    steps: [...change.steps, ...away],
  };
  if (value === "true") return [moved];
  const text = "remove it, which does not change the workload's pods";
  const removal = target.file === undefined
    ? harmless(text, "workload", ...away)
    : byHand(`${text}, in ${target.file}`, "workload");
  return [removal, { ...moved, risk: "takes-out", namespace: target.namespace }];
}
