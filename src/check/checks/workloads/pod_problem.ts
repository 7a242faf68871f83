import type { ExpectedPod } from "../../inventory/expectations.ts";
import type { Problem } from "../findings.ts";

/** What is wrong with a pod, or with all pods of its workload. */
export type PodProblem = Omit<Problem, "object">;

/** `deployment/shop/web`: what made a pod, as findings name it. */
export function ownerRef({ owner }: Pick<ExpectedPod, "owner">): string {
  return `${owner.kind.toLowerCase()}/${owner.namespace}/${owner.name}`;
}
