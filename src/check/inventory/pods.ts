import { once } from "./observed.ts";
import { podKeeper } from "./kept_fields.ts";
import { listOf, type Source } from "./source.ts";

/**
 * Pods are large: a page of the usual length, 500, would be the most that is in memory at once. Of 5,000 pods pages of
 * 50 save 4 MB more and cost as many round trips again.
 */
export const PAGE_OF_PODS = { limit: "100" };

/** Pods: those of the scope, and those of the whole cluster; without what no check reads. */
export function podFacts(source: Source) {
  const { namespace } = source.scope;
  const list = (of: { readonly namespace?: string }) =>
    once(() => listOf(source, "api/v1", "pods", { query: PAGE_OF_PODS, keep: podKeeper(), ...of }));
  const allPods = list({});
  return { allPods, pods: namespace === undefined ? allPods : list({ namespace }) };
}
