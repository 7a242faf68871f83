/** Requests for injection where nothing reads them. */
import { LABEL } from "../../core/mesh/annotations/labels.ts";
import { mapAt } from "../../core/value.ts";
import { labelsOf, metadataOf, podIn } from "../../inject/mod.ts";
import { changePod, kubectl } from "./commands.ts";
import { ownStrings, type Target } from "./target.ts";

/** A label or annotation that is on a controller and belongs to its pod. */
export interface Misplaced {
  readonly of: "labels" | "annotations";
  readonly key: string;
  readonly value: string;
  readonly message: string;
  /** Commands that put it where it counts. */
  readonly fix: readonly string[];
}

const STRINGS = ["labels", "annotations"] as const;

/**
 * What asks for injection on the controller itself, where the pod says nothing of the kind: it reaches no pod
 * (Istio, "Installing the Sidecar": the label is that of the pod template).
 */
export function misplacedRequests(target: Target): readonly Misplaced[] {
  const { manifest, row } = target;
  if (row.path.length === 0) return [];
  const pod = podIn(manifest, row);
  const said = [labelsOf(pod), mapAt(metadataOf(pod), "annotations")];
  if (said.some((strings) => strings[LABEL.inject] !== undefined)) return [];
  return STRINGS.flatMap((of) => {
    const value = ownStrings(target, of)[LABEL.inject];
    if (typeof value !== "string") return [];
    const to = [...row.path, "metadata", "labels"].join(".");
    const message = `the ${of.slice(0, -1)} "${LABEL.inject}" is on the ${row.kind} itself, where it has no effect: ` +
      `move it to ${to}`;
    return [{ of, key: LABEL.inject, value, message, fix: moved(target, of, value) }];
  });
}

function moved(target: Target, of: Misplaced["of"], value: string): readonly string[] {
  const add = changePod(target, { of: "labels", key: LABEL.inject, value });
  if (target.file !== undefined) return [add];
  const name = `${target.row.kind.toLowerCase()}/${target.name}`;
  const verb = of === "labels" ? "label" : "annotate";
  return [add, kubectl(verb, name, "-n", target.namespace, `${LABEL.inject}-`)];
}
