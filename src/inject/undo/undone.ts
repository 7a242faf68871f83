import type { Pod } from "../pod/pod.ts";
import type { Evidence } from "./evidence.ts";

/** What cannot be known any more. */
export interface Doubt {
  /** Path of the field in the pod. */
  readonly field: string;
  readonly message: string;
}

/** What is told of a field that was perhaps the user's. */
export const STAYS = "stays: the pod may have had it before injection, or the values may give it";
export const TAKEN_OUT = "taken out: add it again if the pod had it before injection";

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
