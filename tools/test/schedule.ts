/** What a job takes while it runs. */
export interface Needs {
  /** A cluster of the pool. */
  readonly needsCluster: boolean;
}

/** How much there is. */
export interface Limits {
  /** Jobs at a time. */
  readonly workers: number;
  /** Jobs with a cluster at a time. */
  readonly clusters: number;
  /** No job starts after it is aborted. */
  readonly signal?: AbortSignal;
}

/**
 * Runs jobs side by side, in their order. A job that needs a cluster is passed over while none is free: it would block a
 * worker. Returns when all that were started have ended.
 */
export async function runJobs<J extends Needs>(
  jobs: readonly J[],
  { workers, clusters, signal }: Limits,
  run: (job: J) => Promise<void>,
): Promise<void> {
  const queue = [...jobs];
  const running = new Map<J, Promise<void>>();
  const take = () => {
    const used = [...running.keys()].filter(({ needsCluster }) => needsCluster).length;
    const index = queue.findIndex(({ needsCluster }) => !needsCluster || used < clusters);
    return index < 0 ? undefined : queue.splice(index, 1)[0];
  };
  while (signal?.aborted !== true) {
    const job = running.size < workers ? take() : undefined;
    if (job !== undefined) running.set(job, run(job).finally(() => running.delete(job)));
    else if (running.size > 0) await Promise.race(running.values());
    else break;
  }
  await Promise.all(running.values());
}
