/** What a namespace objects to in one injected pod: Pod Security, quotas, limit ranges. */
import type { LimitRange, ResourceQuota } from "../../kube/client/mod.ts";
import type { ValueMap } from "../../base/value.ts";
import type { Pod } from "../../inject/mod.ts";
import { rangeObstacles, withDefaults } from "./limit_range.ts";
import { containersByName, podAmounts } from "./pod_resources.ts";
import { type Level, violationsOf } from "../../inject/mod.ts";
import { type Demand, type Obstacle, quotaObstacles } from "./quota.ts";

export interface Policies {
  readonly labels: ValueMap;
  readonly quotas: readonly ResourceQuota[];
  readonly ranges: readonly LimitRange[];
}

/** The label of a namespace with the level that Pod Security enforces. */
export const ENFORCE = "pod-security.kubernetes.io/enforce";

/** What a pod demands, with the defaults of limit ranges. */
export function demandOf(pod: Pod, ranges: readonly LimitRange[]): Demand {
  const amounts = (container: ValueMap) => withDefaults(container, ranges);
  const containers = new Map([...containersByName(pod)].map(([name, each]) => [name, amounts(each)]));
  return { total: podAmounts(pod, amounts), containers };
}

/** The obstacles to a pod. Exemptions of Pod Security are flags of the API server, which are not known. */
export function obstaclesOf(pod: Pod, { labels, quotas, ranges }: Policies): readonly Obstacle[] {
  const demand = demandOf(pod, ranges);
  return [
    ...podSecurity(pod, labels[ENFORCE]),
    ...ranges.flatMap((range) =>
      rangeObstacles([range], demand).map((message) => never("limit range", range, message))
    ),
    ...quotas.flatMap((quota) =>
      quotaObstacles(quota, demand).map((each) => ({
        ...each,
        ...never("quota", quota, each.message),
        never: each.never,
      }))
    ),
  ];
}

function podSecurity(pod: Pod, label: unknown): readonly Obstacle[] {
  const level = levelOf(label);
  if (level === undefined) return [];
  const violations = violationsOf(pod, level);
  if (violations.length === 0) return [];
  return [{ never: true, message: `Pod Security enforces ${level}: ${violations.join("; ")}` }];
}

/** The API server denies other values. Without a label the cluster's default applies, which the API does not show. */
export function levelOf(label: unknown): Level | undefined {
  return label === "baseline" || label === "restricted" ? label : undefined;
}

function never(what: string, { metadata }: LimitRange | ResourceQuota, message: string): Obstacle {
  return { never: true, message: `the ${what} "${metadata.name}" ${message}` };
}
