/** Finds the hosts of a cluster that Envoy can choose (source/common/upstream/load_balancer_impl.cc). */

export interface Host {
  readonly health: "healthy" | "degraded" | "unhealthy";
  readonly priority: number;
  readonly locality: string;
  readonly localityWeight: number | undefined;
}

export interface Balancing {
  /** Percentage of healthy hosts below which Envoy uses all hosts. */
  readonly panicThreshold: number;
  readonly overprovisioning: number;
  readonly localityWeighted: boolean;
}

export interface Balanced<T extends Host> {
  readonly taken: readonly T[];
  /** Whether too few hosts are healthy, so that Envoy uses unhealthy hosts too. */
  readonly isPanic: boolean;
  /** Percentage of the load that each priority receives, starting with priority 0. */
  readonly loads: readonly number[];
}

/** Returns the hosts that Envoy can choose, in all priorities that receive load. */
export function hostsTaken<T extends Host>(hosts: readonly T[], balancing: Balancing): Balanced<T> {
  const levels = levelsOf(hosts);
  const shares = levels.map((level) => availability(level, balancing.overprovisioning));
  const { healthy, degraded, total } = priorityLoads(shares);
  const isFull = total >= 100;
  const picked = levels.map((level, priority) => {
    const isPanic = !isFull && isInPanic(level, balancing.panicThreshold);
    const load = (healthy[priority] ?? 0) + (degraded[priority] ?? 0);
    if (load === 0) return { hosts: [], isPanic: false };
    if (isPanic) return { hosts: level, isPanic };
    const wanted = [(healthy[priority] ?? 0) > 0 ? "healthy" : "", (degraded[priority] ?? 0) > 0 ? "degraded" : ""];
    return { hosts: level.filter(({ health }) => wanted.includes(health)), isPanic };
  });
  const taken = picked.flatMap(({ hosts }) => hosts);
  return {
    taken: balancing.localityWeighted ? withWeight(taken) : taken,
    isPanic: picked.some(({ isPanic }) => isPanic),
    loads: levels.map((_, priority) => (healthy[priority] ?? 0) + (degraded[priority] ?? 0)),
  };
}

/** Groups the hosts by priority, in ascending order. */
function levelsOf<T extends Host>(hosts: readonly T[]): T[][] {
  const priorities = [...new Set(hosts.map(({ priority }) => priority))].sort((a, b) => a - b);
  return priorities.map((priority) => hosts.filter((host) => host.priority === priority));
}

interface Shares {
  readonly healthy: number;
  readonly degraded: number;
}

/** Returns the percentages of healthy and degraded hosts, times the overprovisioning factor. At most 100 in total. */
function availability(level: readonly Host[], overprovisioning: number): Shares {
  const share = (health: Host["health"]) => {
    const count = level.filter((host) => host.health === health).length;
    return level.length === 0 ? 0 : Math.min(100, Math.floor(overprovisioning * count / level.length));
  };
  const healthy = share("healthy");
  return { healthy, degraded: Math.min(100 - healthy, share("degraded")) };
}

/**
 * Distributes the load: first to the healthy hosts of all priorities, then to the degraded hosts. If no host is healthy
 * or degraded, priority 0 receives the whole load.
 */
function priorityLoads(shares: readonly Shares[]) {
  const sum = shares.reduce((all, { healthy, degraded }) => all + healthy + degraded, 0);
  const total = Math.min(100, sum);
  if (total === 0) return { healthy: shares.map((_, priority) => priority === 0 ? 100 : 0), degraded: [], total };
  let left = 100;
  const take = (share: number) => {
    const load = Math.min(left, Math.floor(share * 100 / total));
    left -= load;
    return load;
  };
  const healthy = shares.map((each) => take(each.healthy));
  return { healthy, degraded: shares.map((each) => take(each.degraded)), total };
}

function isInPanic(level: readonly Host[], threshold: number): boolean {
  const available = level.filter(({ health }) => health !== "unhealthy").length;
  return level.length > 0 && 100 * available / level.length < Math.min(threshold, 100);
}

/** Returns the hosts of localities with a weight, or all hosts if all localities lack a weight. */
function withWeight<T extends Host>(hosts: readonly T[]): readonly T[] {
  const weighted = hosts.filter(({ localityWeight }) => (localityWeight ?? 0) > 0);
  return weighted.length === 0 ? hosts : weighted;
}
