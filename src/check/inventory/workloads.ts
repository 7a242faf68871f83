import type { KubeObject } from "../../core/kube/client/mod.ts";
import { type Fact, isKnown, once } from "./observed.ts";
import { workloadKeeper } from "./kept_fields.ts";
import { listOf, type Source } from "./source.ts";

const COLLECTIONS: readonly (readonly [group: string, resource: string])[] = [
  ["apis/apps/v1", "deployments"],
  ["apis/apps/v1", "statefulsets"],
  ["apis/apps/v1", "daemonsets"],
  ["apis/batch/v1", "jobs"],
  ["apis/batch/v1", "cronjobs"],
];

/** Controllers of the scope: what makes pods. */
export function workloadFacts(source: Source) {
  const { namespace } = source.scope;
  return {
    workloads: once(async (): Promise<Fact<readonly KubeObject[]>> => {
      const options = { namespace, query: { limit: "100" }, keep: workloadKeeper() };
      const lists = await Promise.all(
        COLLECTIONS.map(([group, resource]) => listOf(source, group, resource, options)),
      );
      const unknown = lists.find((list) => !isKnown(list));
      return unknown ?? { value: lists.filter((list) => isKnown(list)).flatMap(({ value }) => value) };
    }),
  };
}
