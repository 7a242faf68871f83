import type { ExpectedPod } from "../../inventory/expectations.ts";
import type { Problem } from "../findings.ts";

/** A problem of a pod, or of all pods of its workload. */
export type PodProblem = Omit<Problem, "object">;

/** The owner of a pod as findings name it: `deployment/shop/web`. */
export function ownerRef({ owner }: Pick<ExpectedPod, "owner">): string {
  return `${owner.kind.toLowerCase()}/${owner.namespace}/${owner.name}`;
}
