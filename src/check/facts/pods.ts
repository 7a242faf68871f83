import { once } from "./fact.ts";
import { listOf, type Source } from "./source.ts";

/** Pods of the scope. */
export function podFacts(source: Source) {
  return { pods: once(() => listOf(source, "api/v1", "pods", { namespace: source.scope.namespace })) };
}
