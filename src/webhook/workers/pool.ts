/**
 * Workers: processes that answer one review at a time. JavaScript runs on one processor, and a crash caused by one pod stays
 * in its worker. This process keeps the connections to the API server, the certificates and the metrics.
 */
import { MeshError, messageOf } from "../../base/errors.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { ByteConnection, ChildEnd, TcpListener, World } from "../../platform/mod.ts";
import { type Answered, lostReview } from "../review/review_pod.ts";
import { encodeFrame, messagesOf } from "./frames.ts";
import { type ReviewInputs, updatesMaker } from "./messages.ts";
import { type Job, Worker } from "./worker_handle.ts";

type PoolWorld = Pick<World, "processes" | "clock" | "network">;

/** The options of a pool. */
export interface PoolOptions {
  /** The number of workers. */
  readonly count: number;
  /** The current inputs of reviews. */
  readonly inputs: () => ReviewInputs;
  /** Answers a review in this process, while no worker is ready. */
  readonly answer: (body: Uint8Array, path: string) => Answered;
  readonly log: Logger;
}

/** The arguments that start a worker. */
const WORKER_ARGUMENTS = ["webhook", "worker"] as const;

/** Reviews per worker: the current one and the next, so that it does not wait for the connection. */
const DEPTH = 2;
/** The API server waits 10 s by default, at most 30 s: a longer review is lost. */
const PATIENCE = 10_000;
const LOOK_EVERY = 1000;
/** The pause before a restart, longer after each failed start. */
const PAUSES = [0, 200, 1000, 5000, 30_000] as const;
const SETTLED = 10_000;
/** Worker deaths after which a review is refused. */
const MOST_DEATHS = 2;
const LOOPBACK = "127.0.0.1";
/** Milliseconds for a new connection to identify itself. */
const HELLO_TIMEOUT = 10_000;

/** The pool of workers, and the queue of reviews. */
export class ReviewPool {
  readonly #world: PoolWorld;
  readonly #options: PoolOptions;
  readonly #updates = updatesMaker();
  readonly #workers = new Set<Worker>();
  readonly #queue: Job[] = [];
  readonly #stop = new AbortController();
  readonly #ended = new Set<Promise<void>>();
  /** Consecutive failed starts. */
  #failures = 0;
  /** Workers that replaced others. */
  restarts = 0;

  /** Started workers that have not connected yet, by their tokens. */
  readonly #expected = new Map<string, Worker>();
  #listener: TcpListener | undefined;

  private constructor(world: PoolWorld, options: PoolOptions) {
    this.#world = world;
    this.#options = options;
  }

  /** Starts the workers. Rejects with a `MeshError` if it cannot listen. */
  static async open(world: PoolWorld, options: PoolOptions): Promise<ReviewPool> {
    const pool = new ReviewPool(world, options);
    if (options.count === 0) return pool;
    pool.#listener = await world.network.listenTcp(
      { hostname: LOOPBACK, port: 0 },
      (connection) => void pool.#accept(connection),
    );
    for (let index = 0; index < options.count; index++) pool.#start();
    void pool.#watch();
    return pool;
  }

  /** The number of ready workers. */
  get size(): number {
    return [...this.#workers].filter(({ isReady }) => isReady).length;
  }

  /** Answers a review. */
  review(body: Uint8Array, path: string): Answered | Promise<Answered> {
    if (this.size === 0) return this.#options.answer(body, path);
    const { promise, resolve } = Promise.withResolvers<Answered>();
    this.#queue.push({ body, path, answered: resolve, deaths: 0 });
    this.#pump();
    return promise;
  }

  /** Stops the workers. Reviews in flight get no answer. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#workers.forEach((worker) => worker.kill());
    await Promise.all(this.#ended);
    await this.#listener?.close();
  }

  /** Accepts a worker by its token: another process of the machine does not know it. */
  async #accept(connection: ByteConnection): Promise<void> {
    const messages = messagesOf(connection);
    const late = setTimeout(() => connection.close(), HELLO_TIMEOUT);
    const { value: first } = await messages.next().catch(() => ({ value: undefined }));
    clearTimeout(late);
    const worker = first?.kind === "hello" ? this.#expected.get(first.head) : undefined;
    if (worker === undefined || first === undefined) return connection.close();
    this.#expected.delete(first.head);
    const closed = worker.connect(connection, messages);
    worker.update(this.#updates(this.#options.inputs()));
    await closed;
    connection.close();
  }

  #pump(): void {
    for (let worker = this.#free(); worker !== undefined; worker = this.#free()) {
      const job = this.#queue.shift();
      if (job === undefined) return;
      worker.update(this.#updates(this.#options.inputs()));
      worker.take(job);
    }
  }

  /** The ready worker with the fewest reviews, if it can accept one. */
  #free(): Worker | undefined {
    let least: Worker | undefined;
    for (const worker of this.#workers) {
      if (worker.isReady && worker.load < Math.min(DEPTH, least?.load ?? DEPTH)) least = worker;
    }
    return least;
  }

  #start(): void {
    const { processes, clock } = this.#world;
    const { promise, resolve } = Promise.withResolvers<void>();
    const started = clock.monotonic();
    const token = crypto.randomUUID();
    try {
      const helper = processes.help(WORKER_ARGUMENTS);
      const worker = new Worker(helper, clock, {
        ready: () => this.#pump(),
        free: () => this.#pump(),
        ended: (ended, end, left) => {
          this.#workers.delete(ended);
          this.#expected.delete(token);
          resolve();
          this.#replace(ended, end, { left, lived: clock.monotonic() - started });
        },
      });
      this.#workers.add(worker);
      this.#ended.add(promise);
      promise.finally(() => this.#ended.delete(promise));
      this.#expected.set(token, worker);
      helper.send(encodeFrame({ kind: "connect", id: this.#listener?.port ?? 0, head: token }));
      helper.close();
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      this.#options.log.error(logText(`Cannot start a worker: ${messageOf(error)}`));
      void this.#startLater();
    }
  }

  #replace(
    worker: Worker,
    end: ChildEnd,
    { left, lived }: { readonly left: readonly Job[]; readonly lived: number },
  ): void {
    const { signal } = this.#stop;
    if (signal.aborted) return;
    const how = end.signal === undefined ? `exit code ${end.code}` : end.signal;
    this.#options.log.error(logText(`Worker process ${worker.pid} ended with ${how}: starting another one`));
    if (lived > SETTLED) this.#failures = 0;
    this.#requeue(left);
    void this.#startLater();
  }

  /** Gives the reviews of a dead worker to the next one. The first one may be the cause. */
  #requeue(left: readonly Job[]): void {
    const [first] = left;
    if (first !== undefined) first.deaths++;
    const lost = left.filter(({ deaths }) => deaths >= MOST_DEATHS);
    this.#queue.unshift(...left.filter((job) => !lost.includes(job)));
    for (const { body, answered } of lost) answered(lostReview(body));
    this.#pump();
  }

  async #startLater(): Promise<void> {
    const pause = PAUSES[Math.min(this.#failures++, PAUSES.length - 1)] ?? 0;
    this.restarts++;
    const { signal } = this.#stop;
    if (pause > 0) {
      if (this.#workers.size === 0) this.#answerHere();
      await this.#world.clock.sleep(pause, signal);
    }
    if (!signal.aborted) this.#start();
  }

  /** Answers the queue in this process while workers keep failing, without reviews that may be the cause. */
  #answerHere(): void {
    for (const { body, path, answered, deaths } of this.#queue.splice(0)) {
      answered(deaths > 0 ? lostReview(body) : this.#options.answer(body, path));
    }
  }

  /** Kills a worker whose review takes too long. */
  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#world.clock.sleep(LOOK_EVERY, signal);
      for (const worker of this.#workers) if (worker.busyFor > PATIENCE) worker.condemn();
    }
  }
}
