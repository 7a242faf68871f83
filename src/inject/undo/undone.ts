import type { Pod } from "../pod/pod.ts";
import type { Evidence } from "./evidence.ts";

/** What cannot be known any more. */
export interface Doubt {
  /** Path of the field in the pod. */
  readonly field: string;
  readonly message: string;
}

/** A pod after a step, and what the step could not know. */
export interface Undone {
  readonly pod: Pod;
  readonly doubts: readonly Doubt[];
}

/** Undoes one part of an injection. */
export type UndoStep = (pod: Pod, evidence: Evidence) => Undone;

/** The result of a step that knew everything. */
export function certain(pod: Pod): Undone {
  return { pod, doubts: [] };
}
