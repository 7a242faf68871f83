/**
 * Processes that answer reviews. In: bytes of reviews, and what they are answered from, which may change (`ReviewPool`). Out:
 * their answers, whatever becomes of a process. The other end of the pipe is `runWorker`.
 */
export type { Facts, NamespaceUsers } from "./messages.ts";
export { type PoolOptions, ReviewPool } from "./pool.ts";
export { runWorker } from "./worker_process.ts";
