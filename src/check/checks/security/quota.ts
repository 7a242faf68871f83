/**
 * Whether quotas of a namespace leave room for a sidecar. Source: "Resource Quotas" of the Kubernetes documentation:
 * with a quota on requests or limits, every container must set them, and the sum is limited.
 */
import type { V1ResourceQuotaSpec } from "@kubernetes/client-node/models";
import type { Plain, ResourceQuota } from "../../../core/kube/client/mod.ts";
import { type Amounts, amountText, milliOf } from "./pod_resources.ts";

/** The resources that a sidecar requests. */
export interface Demand {
  /** Of the whole pod. */
  readonly total: Amounts;
  /** Of each injected container. */
  readonly containers: ReadonlyMap<string, Amounts>;
}

/** An obstacle; `never` if no injected pod can be created at all, independent of the present usage. */
export interface Obstacle {
  readonly never: boolean;
  readonly message: string;
  /** What `spec.hard` must have for one sidecar more. */
  readonly raise?: Readonly<Record<string, string>>;
}

/** What every container must set if a quota limits it (k8s.io/kubernetes/pkg/quota/v1/evaluator/core/pods.go). */
const NAMED = /^(requests|limits)\.(cpu|memory)$/;
const COUNTED = /^(requests|limits)\.(cpu|memory|ephemeral-storage)$/;

/** `cpu` is `requests.cpu`, as `memory` is. */
const NAMES: Readonly<Record<string, string>> = { cpu: "requests.cpu", memory: "requests.memory" };

/** The obstacles of a ResourceQuota to injected pods. */
export function quotaObstacles({ spec = {}, status = {} }: ResourceQuota, demand: Demand): readonly Obstacle[] {
  if (!countsPods(spec)) return [];
  const { hard = {} } = spec;
  return Object.keys(hard).flatMap((key) => {
    const limit = milliOf(hard[key]);
    if (limit === undefined) return [];
    const resource = NAMES[key] ?? key;
    return obstacle(demand, { key, resource, limit, used: milliOf(status.used?.[key]) ?? 0n }) ?? [];
  });
}

/** Whether a ResourceQuota counts something that a container does not set: a LimitRange may set it. */
export function dependsOnDefaults({ spec = {} }: ResourceQuota, { containers }: Demand): boolean {
  const counted = Object.keys(spec.hard ?? {}).map((key) => NAMES[key] ?? key).filter((name) => COUNTED.test(name));
  return countsPods(spec) && counted.some((name) => [...containers.values()].some((amounts) => !amounts.has(name)));
}

interface Bound {
  /** As the quota names it. */
  readonly key: string;
  readonly resource: string;
  readonly limit: bigint;
  readonly used: bigint;
}

function obstacle(demand: Demand, { key, resource, limit, used }: Bound): Obstacle | undefined {
  if (!COUNTED.test(resource)) return undefined;
  const silent = [...demand.containers].find(([, amounts]) => NAMED.test(resource) && !amounts.has(resource));
  if (silent !== undefined) {
    return { never: true, message: `requires ${resource}, which the container "${silent[0]}" does not set` };
  }
  const needed = demand.total.get(resource) ?? 0n;
  const text = (milli: bigint) => amountText(milli, resource);
  const raise = { [key]: text(used + needed) };
  if (needed > limit) {
    return {
      never: true,
      raise,
      message: `allows ${resource} of ${text(limit)}: a sidecar alone needs ${text(needed)}`,
    };
  }
  const left = limit > used ? limit - used : 0n;
  if (needed <= left) return undefined;
  return { never: false, raise, message: `has ${text(left)} of ${resource} left: a sidecar needs ${text(needed)}` };
}

/** Scopes that every injected pod is in. */
const EVERY_POD = new Set(["NotBestEffort"]);

/** A quota with another scope applies to some pods only. */
function countsPods({ scopes = [], scopeSelector }: Plain<V1ResourceQuotaSpec>): boolean {
  return scopeSelector === undefined && scopes.every((scope) => EVERY_POD.has(scope));
}
