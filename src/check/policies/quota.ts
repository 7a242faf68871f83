/** Finds quotas that refuse a sidecar. Every container must set the limited resources (Kubernetes, "Resource Quotas"). */
import type { V1ResourceQuotaSpec } from "@kubernetes/client-node/models";
import type { Plain, ResourceQuota } from "../../kube/client/mod.ts";
import { type Advice, loosening } from "../advice/advice.ts";
import { type Named, patch } from "../advice/commands.ts";
import { type Amounts, amountText, milliOf } from "./pod_resources.ts";

/** The resources that a sidecar requests. */
export interface Demand {
  readonly total: Amounts;
  /** Requests and limits of each injected container, by name. */
  readonly containers: ReadonlyMap<string, Amounts>;
}

/** An obstacle to injected pods. `never` is true if no injected pod can be created, even without other pods. */
export interface Obstacle {
  readonly never: boolean;
  readonly message: string;
  /** The change of the quota that admits one more pod. */
  readonly raise?: Raise;
}

/** A raise of one limit in a quota: its key, the added amount, and the new limit. */
export interface Raise {
  readonly key: string;
  readonly by: bigint;
  readonly to: bigint;
}

/** Resources that every container must set if a quota limits them (kubernetes/pkg/quota/v1/evaluator/core/pods.go). */
const NAMED = /^(requests|limits)\.(cpu|memory)$/;
const COUNTED = /^(requests|limits)\.(cpu|memory|ephemeral-storage)$/;

/** Short names of resources in quotas, with their full names. */
const NAMES: Readonly<Record<string, string>> = { cpu: "requests.cpu", memory: "requests.memory" };

/** Returns the obstacles to injected pods. `own` contains the requests of a pod without its sidecar. */
export function quotaObstacles(
  { spec = {}, status = {} }: ResourceQuota,
  demand: Demand,
  own: Amounts = new Map(),
): readonly Obstacle[] {
  if (!countsPods(spec)) return [];
  const { hard = {} } = spec;
  return Object.keys(hard).flatMap((key) => {
    const limit = milliOf(hard[key]);
    if (limit === undefined) return [];
    const resource = NAMES[key] ?? key;
    return obstacle(demand, { key, resource, limit, used: milliOf(status.used?.[key]) ?? 0n }, own) ?? [];
  });
}

/** Whether a quota counts a resource that a container does not set, so that LimitRanges matter. */
export function dependsOnDefaults({ spec = {} }: ResourceQuota, { containers }: Demand): boolean {
  const counted = Object.keys(spec.hard ?? {}).map((key) => NAMES[key] ?? key).filter((name) => COUNTED.test(name));
  return countsPods(spec) && counted.some((name) => [...containers.values()].some((amounts) => !amounts.has(name)));
}

interface Bound {
  readonly key: string;
  readonly resource: string;
  readonly limit: bigint;
  readonly used: bigint;
}

function obstacle(demand: Demand, { key, resource, limit, used }: Bound, own: Amounts): Obstacle | undefined {
  if (!COUNTED.test(resource)) return undefined;
  const silent = [...demand.containers].find(([, amounts]) => NAMED.test(resource) && !amounts.has(resource));
  if (silent !== undefined) {
    return { never: true, message: `requires ${resource}, which the container "${silent[0]}" does not set` };
  }
  const needed = demand.total.get(resource) ?? 0n;
  const text = (milli: bigint) => amountText(milli, resource);
  const by = needed + (own.get(resource) ?? 0n);
  const raise = { key, by, to: (used > limit ? used : limit) + by };
  if (needed > limit) {
    return {
      never: true,
      raise,
      message: `allows ${resource} of ${text(limit)}, but a sidecar alone needs ${text(needed)}`,
    };
  }
  const left = limit > used ? limit - used : 0n;
  if (needed <= left) return undefined;
  return { never: false, raise, message: `has ${text(left)} of ${resource} left, but a sidecar needs ${text(needed)}` };
}

/** Returns advice to raise the limits of a quota. `reason` names the purpose of the added amount. */
export function raisedQuota(quota: Omit<Named, "kind">, raises: readonly Raise[], reason: string): Advice {
  const hard = Object.fromEntries(raises.map(({ key, to }) => [key, amountText(to, key)]));
  const step = patch({ kind: "resourcequota", ...quota }, { spec: { hard } });
  const amounts = raises.map(({ key, by }) => `${amountText(by, key)} of ${key}`).join(" and ");
  return loosening(`raise the quota by ${amounts} for ${reason}`, "namespace", step);
}

/**
 * Returns advice to raise the quota named in an error from the API server, by enough for two pods: the refused pod and
 * an extra pod during a rollout. Returns an empty list for other errors. Source:
 * k8s.io/apiserver/pkg/admission/plugin/resourcequota.
 */
export function quotaFor(message: string, namespace: string): readonly Advice[] {
  const [, name = "", requested = "", used = "", limited = ""] = EXCEEDED.exec(message) ?? [];
  const [before, limits] = [new Map(pairsOf(used)), new Map(pairsOf(limited))];
  const raises = pairsOf(requested).flatMap(([key, text]): readonly Raise[] => {
    const [needed, now, limit] = [milliOf(text), milliOf(before.get(key)), milliOf(limits.get(key))];
    if (needed === undefined || now === undefined || limit === undefined) return [];
    const by = 2n * needed;
    return [{ key, by, to: (now > limit ? now : limit) + by }];
  });
  return raises.length === 0 ? [] : [raisedQuota({ namespace, name }, raises, "two of its pods")];
}

const EXCEEDED = /exceeded quota: ([a-z0-9.-]+), requested: (\S+), used: (\S+), limited: (\S+)$/;

function pairsOf(text: string): readonly (readonly [string, string])[] {
  return text.split(",").map((each) => each.split("=")).flatMap(([key = "", value]) => {
    return value === undefined ? [] : [[key, value] as const];
  });
}

/** Quota scopes that every injected pod matches. */
const EVERY_POD = new Set(["NotBestEffort"]);

/** Whether a quota applies to every injected pod: it has no scope other than `NotBestEffort`. */
function countsPods({ scopes = [], scopeSelector }: Plain<V1ResourceQuotaSpec>): boolean {
  return scopeSelector === undefined && scopes.every((scope) => EVERY_POD.has(scope));
}
