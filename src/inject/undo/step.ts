import type { Pod } from "../pod/pod.ts";
import type { Evidence } from "./evidence.ts";

/** A field whose value before injection is not known. Fields are paths in the pod. */
export interface Doubt {
  readonly field: string;
  readonly message: string;
}

/** Messages about a field that was perhaps the user's. */
export const STAYS = "stays: the pod may have had it before injection, or the values may give it";
export const TAKEN_OUT = "taken out: add it again if the pod had it before injection";

/** Undoes one part of an injection; adds to `doubts` what cannot be known. */
export type UndoStep = (pod: Pod, evidence: Evidence, doubts: Doubt[]) => Pod;
