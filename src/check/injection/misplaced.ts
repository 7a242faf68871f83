/** Injection labels and annotations on the wrong object. */
import { LABEL } from "../../core/mesh/annotations/labels.ts";
import { mapAt } from "../../core/value.ts";
import { labelsOf, metadataOf, podIn } from "../../inject/mod.ts";
import { changePod, kubectl } from "./commands.ts";
import { ownStrings, type Target } from "./target.ts";

/** An injection label or annotation on a controller instead of its pod template. */
export interface Misplaced {
  readonly of: "labels" | "annotations";
  readonly key: string;
  readonly value: string;
  readonly message: string;
  /** Commands that move it to the pod template. */
  readonly fix: readonly string[];
}

const STRINGS = ["labels", "annotations"] as const;

/**
 * Injection labels and annotations on the controller itself, if the pod template has none. They have no effect
 * (Istio, "Installing the Sidecar": the label belongs to the pod template).
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
