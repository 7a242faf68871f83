import type { Pod } from "../pod/pod.ts";
import type { Evidence } from "./evidence.ts";

/** A field whose value before injection is unknown. `field` is a path in the pod. */
export interface Doubt {
  readonly field: string;
  readonly message: string;
}

/** Messages about a field that may have been the user's. */
export const STAYS = "stays, because the pod may have had it before injection, or the values may set it";
export const TAKEN_OUT = "removed; add it again if the pod had it before injection";

/** Undoes one part of an injection. Adds fields whose original value is unknown to `doubts`. */
export type UndoStep = (pod: Pod, evidence: Evidence, doubts: Doubt[]) => Pod;
