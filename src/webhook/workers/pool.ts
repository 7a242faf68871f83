/**
 * Reviews are answered by several processes, one review by one: JavaScript runs on one processor, and what a pod makes of
 * a worker is nothing to the process that talks to the API server, which has the connections, certificates and metrics.
 */
import { MeshError, messageOf } from "../../core/errors.ts";
import { type Logger, logText } from "../../core/log.ts";
import type { ByteConnection, ChildEnd, TcpListener, World } from "../../core/world/mod.ts";
import { type Answered, lostReview } from "../review/mod.ts";
import { messagesOf } from "./channel.ts";
import { type Facts, teller } from "./messages.ts";
import { encodeFrame } from "./frames.ts";
import { type Job, Worker } from "./worker_handle.ts";

/** What a pool needs of the world. */
type PoolWorld = Pick<World, "processes" | "clock" | "network">;

/** What a pool is made of. */
export interface PoolOptions {
  /** How many workers. */
  readonly count: number;
  /** What reviews are answered from at this moment. */
  readonly facts: () => Facts;
  /** Answers a review in this process: while no worker is there. */
  readonly answer: (body: Uint8Array, path: string) => Answered;
  readonly log: Logger;
}

/** The arguments that make a worker of this program. */
export const WORKER_ARGUMENTS = ["webhook", "worker"] as const;

/** Reviews that a worker has: the one that it answers, and the next, so that it need not wait for the pipe. */
const DEPTH = 2;
/** The API server waits 30 s at most, 10 unless told: a review that takes so long is lost. */
const PATIENCE = 10_000;
const LOOK_EVERY = 1000;
/** Workers that end soon after their start are started again later and later. */
const PAUSES = [0, 200, 1000, 5000, 30_000] as const;
const SETTLED = 10_000;
/** How often a review may be before a worker that ends. */
const MOST_DEATHS = 2;
const LOOPBACK = "127.0.0.1";
/** How long a connection may take to say whose it is. */
const CALL = 10_000;

/** Workers that answer reviews. */
export class ReviewPool {
  readonly #world: PoolWorld;
  readonly #options: PoolOptions;
  readonly #tell = teller();
  readonly #workers = new Set<Worker>();
  readonly #queue: Job[] = [];
  readonly #stop = new AbortController();
  readonly #ended = new Set<Promise<void>>();
  /** Starts that failed one after the other. */
  #failures = 0;
  /** Workers that were started in place of others. */
  restarts = 0;

  /** Workers that were started and have not called yet, by the secrets that they were given. */
  readonly #expected = new Map<string, Worker>();
  #listener: TcpListener | undefined;

  private constructor(world: PoolWorld, options: PoolOptions) {
    this.#world = world;
    this.#options = options;
  }

  /** Starts the workers, which take reviews when they are ready. Rejects with a `MeshError` if that cannot be. */
  static async open(world: PoolWorld, options: PoolOptions): Promise<ReviewPool> {
    const pool = new ReviewPool(world, options);
    if (options.count === 0) return pool;
    pool.#listener = await world.network.listenTcp(
      { hostname: LOOPBACK, port: 0 },
      (connection) => void pool.#called(connection),
    );
    for (let index = 0; index < options.count; index++) pool.#start();
    void pool.#watch();
    return pool;
  }

  /** Workers that take reviews. */
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

  /** Ends the workers. Reviews that are under way are not answered any more. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#workers.forEach((worker) => worker.kill());
    await Promise.all(this.#ended);
    await this.#listener?.close();
  }

  /** Another process of the machine does not know the secret. */
  async #called(connection: ByteConnection): Promise<void> {
    const messages = messagesOf(connection);
    const late = setTimeout(() => connection.close(), CALL);
    const { value: first } = await messages.next().catch(() => ({ value: undefined }));
    clearTimeout(late);
    const worker = first?.kind === "hello" ? this.#expected.get(first.head) : undefined;
    if (worker === undefined || first === undefined) return connection.close();
    this.#expected.delete(first.head);
    const heard = worker.connect(connection, messages);
    worker.tell(this.#tell(this.#options.facts()));
    await heard;
    connection.close();
  }

  #pump(): void {
    for (let worker = this.#free(); worker !== undefined; worker = this.#free()) {
      const job = this.#queue.shift();
      if (job === undefined) return;
      worker.tell(this.#tell(this.#options.facts()));
      worker.take(job);
    }
  }

  /** The ready worker with the fewest reviews, if it has room. */
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
      this.#options.log.error(logText(`No worker: ${messageOf(error)}`));
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
    this.#options.log.error(logText(`A worker (process ${worker.pid}) ended with ${how}; another is started`));
    if (lived > SETTLED) this.#failures = 0;
    this.#again(left);
    void this.#startLater();
  }

  /** Reviews that a worker left are for the next one; the first may be why it ended. */
  #again(left: readonly Job[]): void {
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

  /** No worker is there, nor will be soon: what waits is answered by this process, but for what may have ended workers. */
  #answerHere(): void {
    for (const { body, path, answered, deaths } of this.#queue.splice(0)) {
      answered(deaths > 0 ? lostReview(body) : this.#options.answer(body, path));
    }
  }

  /** A review that takes too long is lost with its worker. */
  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#world.clock.sleep(LOOK_EVERY, signal);
      for (const worker of this.#workers) if (worker.busyFor > PATIENCE) worker.condemn();
    }
  }
}
