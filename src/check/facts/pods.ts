import { once } from "./fact.ts";
import { slimPod } from "./slim_pod.ts";
import { listOf, type Source } from "./source.ts";

/** Pods are large: a page of the usual length would be the most that is in memory at once. */
const PODS = { query: { limit: "100" }, keep: slimPod };

/** Pods: those of the scope, and those of the whole cluster; without what no check reads. */
export function podFacts(source: Source) {
  const { namespace } = source.scope;
  const allPods = once(() => listOf(source, "api/v1", "pods", PODS));
  const ownPods = once(() => listOf(source, "api/v1", "pods", { ...PODS, namespace }));
  return { allPods, pods: namespace === undefined ? allPods : ownPods };
}
