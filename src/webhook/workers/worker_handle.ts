/** The pool's side of a worker process: its updates and its reviews. */
import type { ByteConnection, ChildEnd, Clock, Helper } from "../../platform/mod.ts";
import type { Answered } from "../review/review_pod.ts";
import { encodeFrame, type Frame, senderOn } from "./frames.ts";
import { readReviewed, type Updates } from "./messages.ts";

/** A review in flight. */
export interface Job {
  readonly body: Uint8Array;
  readonly path: string;
  readonly answered: (answer: Answered) => void;
  /** The number of workers that ended while they worked on it. */
  deaths: number;
}

/** Events of a worker. */
export interface WorkerEvents {
  /** It accepts reviews from now on. */
  readonly ready: (worker: Worker) => void;
  /** It can accept another review. */
  readonly free: (worker: Worker) => void;
  /** It has ended without an answer to these reviews; the first one was in work. */
  readonly ended: (worker: Worker, end: ChildEnd, left: readonly Job[]) => void;
}

/** A process that answers reviews in order. */
export class Worker {
  readonly #helper: Helper;
  readonly #clock: Clock;
  readonly #jobs = new Map<number, Job>();
  #send: ((message: Uint8Array) => void) | undefined;
  #hangUp = () => {};
  #sent: Partial<Updates> = {};
  #next = 0;
  #isReady = false;
  /** When it started the current review. */
  #since = 0;

  readonly #events: WorkerEvents;

  constructor(helper: Helper, clock: Clock, events: WorkerEvents) {
    this.#helper = helper;
    this.#clock = clock;
    this.#events = events;
    void helper.ended.then((end) => {
      this.#isReady = false;
      this.#hangUp();
      events.ended(this, end, [...this.#jobs.values()]);
    });
  }

  /** Reads the messages on its connection until the end. */
  async connect(connection: ByteConnection, messages: AsyncIterable<Frame>): Promise<void> {
    this.#send = senderOn(connection);
    this.#hangUp = () => connection.close();
    try {
      for await (const message of messages) this.#receive(message);
    } catch {
      // An invalid message comes from a broken worker.
    }
    this.kill();
  }

  #receive(message: Frame): void {
    if (message.kind === "ready") {
      this.#isReady = true;
      return this.#events.ready(this);
    }
    this.#take(message.id)?.answered(readReviewed(message));
    this.#events.free(this);
  }

  get pid(): number {
    return this.#helper.pid;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** The number of its reviews. */
  get load(): number {
    return this.#jobs.size;
  }

  /** Milliseconds since it started the current review. */
  get busyFor(): number {
    return this.#jobs.size === 0 ? 0 : this.#clock.monotonic() - this.#since;
  }

  /** Sends the updates that are new to it. */
  update(updates: Updates): void {
    for (const kind of ["configuration", "cluster"] as const) {
      if (this.#sent[kind] !== updates[kind]) this.#send?.(updates[kind]);
    }
    this.#sent = updates;
  }

  take(job: Job): void {
    const id = this.#next = (this.#next + 1) % 2 ** 32;
    if (this.#jobs.size === 0) this.#since = this.#clock.monotonic();
    this.#jobs.set(id, job);
    this.#send?.(encodeFrame({ kind: "review", id, head: job.path, body: job.body }));
  }

  kill(): void {
    this.#helper.kill();
  }

  /** Kills it because of the current review, which is not tried again. */
  condemn(): void {
    const [job] = this.#jobs.values();
    if (job !== undefined) job.deaths = Infinity;
    this.kill();
  }

  #take(id: number): Job | undefined {
    const job = this.#jobs.get(id);
    this.#jobs.delete(id);
    this.#since = this.#clock.monotonic();
    return job;
  }
}
