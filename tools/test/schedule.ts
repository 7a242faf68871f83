/** The resources that a job needs. */
export interface Needs {
  /** A cluster of the pool. */
  readonly needsCluster: boolean;
}

/** The limits of all jobs together. */
export interface Limits {
  /** Maximum number of jobs that run in parallel. */
  readonly workers: number;
  /** Maximum number of jobs with a cluster that run in parallel. */
  readonly clusters: number;
  /** Once it is aborted, no further job starts. */
  readonly signal?: AbortSignal;
}

/**
 * Runs jobs in parallel, in order. While no cluster is free, a job that needs one is skipped and runs later, so that it
 * does not block a worker. Returns when all started jobs have finished.
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
