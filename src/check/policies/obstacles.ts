/** Finds policies of a namespace that refuse an injected pod: Pod Security, quotas, and limit ranges. */
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

/** Namespace label with the level that Pod Security enforces. */
export const ENFORCE = "pod-security.kubernetes.io/enforce";

/** Returns the resources that a pod requests, with the defaults of limit ranges. */
export function demandOf(pod: Pod, ranges: readonly LimitRange[]): Demand {
  const amounts = (container: ValueMap) => withDefaults(container, ranges);
  const containers = new Map([...containersByName(pod)].map(([name, each]) => [name, amounts(each)]));
  return { total: podAmounts(pod, amounts), containers };
}

/** Returns the policies that refuse a pod. Exemptions from Pod Security are unknown: only the API server has them. */
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

/** Returns the level in a label; `undefined` for `privileged` or no label. No API shows the cluster's default level. */
export function levelOf(label: unknown): Level | undefined {
  return label === "baseline" || label === "restricted" ? label : undefined;
}

function never(what: string, { metadata }: LimitRange | ResourceQuota, message: string): Obstacle {
  return { never: true, message: `the ${what} "${metadata.name}" ${message}` };
}
