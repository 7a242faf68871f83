/** One worker as the pool sees it: what it has been told, and which reviews it has. */
import type { ByteConnection, ChildEnd, Clock, Helper } from "../../core/world/mod.ts";
import type { Answered } from "../review/mod.ts";
import type { Told } from "./messages.ts";
import { senderOn } from "./channel.ts";
import { encodeFrame, type Frame } from "./frames.ts";
import { readReviewed } from "./told.ts";

/** A review on its way. */
export interface Job {
  readonly body: Uint8Array;
  readonly path: string;
  readonly answered: (answer: Answered) => void;
  /** How many workers ended while they had it before them. */
  deaths: number;
}

/** Who hears of a worker. */
export interface WorkerEvents {
  /** It takes reviews from now on. */
  readonly ready: (worker: Worker) => void;
  /** It has room for another review. */
  readonly free: (worker: Worker) => void;
  /** It has ended, with these reviews unanswered, the one that it had before it first. */
  readonly ended: (worker: Worker, end: ChildEnd, left: readonly Job[]) => void;
}

/** A process that answers reviews, in the order in which it gets them. */
export class Worker {
  readonly #helper: Helper;
  readonly #clock: Clock;
  readonly #jobs = new Map<number, Job>();
  #send: ((message: Uint8Array) => void) | undefined;
  #hangUp = () => {};
  #told: Partial<Told> = {};
  #next = 0;
  #isReady = false;
  /** When the review that it has before it came before it. */
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

  /** It has made its connection; `messages` are those that come on it. */
  async connect(connection: ByteConnection, messages: AsyncIterable<Frame>): Promise<void> {
    this.#send = senderOn(connection);
    this.#hangUp = () => connection.close();
    try {
      for await (const message of messages) this.#heard(message);
    } catch {
      // What cannot be read comes from a worker that is broken.
    }
    this.kill();
  }

  #heard(message: Frame): void {
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

  /** Reviews that it has. */
  get load(): number {
    return this.#jobs.size;
  }

  /** Milliseconds that it has had the review before it. */
  get busyFor(): number {
    return this.#jobs.size === 0 ? 0 : this.#clock.monotonic() - this.#since;
  }

  /** What it answers from; it is sent what is new to it. */
  tell(told: Told): void {
    for (const kind of ["configuration", "cluster"] as const) {
      if (this.#told[kind] !== told[kind]) this.#send?.(told[kind]);
    }
    this.#told = told;
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

  /** Ends it because of the review that it has before it. */
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
