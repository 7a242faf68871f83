/** What a namespace objects to in one injected pod: Pod Security, quotas, limit ranges. */
import type { LimitRange, ResourceQuota } from "../../kube/client/mod.ts";
import type { ValueMap } from "../../base/value.ts";
import type { Pod } from "../../inject/mod.ts";
import { rangeObstacles, withDefaults } from "./limit_range.ts";
import { containersByName, podAmounts } from "./pod_resources.ts";
import { type Level, violationsOf } from "./pod_security.ts";
import { type Demand, type Obstacle, quotaObstacles } from "./quota.ts";

/** The policies of a namespace. */
export interface Policies {
  readonly labels: ValueMap;
  readonly quotas: readonly ResourceQuota[];
  readonly ranges: readonly LimitRange[];
}

const ENFORCE = "pod-security.kubernetes.io/enforce";

/** The obstacles to a pod. Exemptions of Pod Security are flags of the API server: they are not seen here. */
export function obstaclesOf(pod: Pod, { labels, quotas, ranges }: Policies): readonly Obstacle[] {
  const amounts = (container: ValueMap) => withDefaults(container, ranges);
  const containers = new Map([...containersByName(pod)].map(([name, each]) => [name, amounts(each)]));
  const demand: Demand = { total: podAmounts(pod, amounts), containers };
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

function podSecurity(pod: Pod, level: unknown): readonly Obstacle[] {
  if (!isLevel(level)) return [];
  const violations = violationsOf(pod, level);
  if (violations.length === 0) return [];
  return [{ never: true, message: `Pod Security enforces ${level}: ${violations.join("; ")}` }];
}

function isLevel(level: unknown): level is Level {
  return level === "baseline" || level === "restricted";
}

function never(what: string, { metadata }: LimitRange | ResourceQuota, message: string): Obstacle {
  return { never: true, message: `the ${what} "${metadata.name}" ${message}` };
}
