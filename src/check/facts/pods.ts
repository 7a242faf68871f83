import { once } from "./fact.ts";
import { listOf, type Source } from "./source.ts";

/** Pods: those of the scope, and those of the whole cluster. */
export function podFacts(source: Source) {
  const { namespace } = source.scope;
  const allPods = once(() => listOf(source, "api/v1", "pods"));
  const ownPods = once(() => listOf(source, "api/v1", "pods", { namespace }));
  return { allPods, pods: namespace === undefined ? allPods : ownPods };
}
