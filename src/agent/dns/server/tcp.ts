/** Questions over TCP: several on a connection, answered as the answers come (RFC 7766 6.2.1.1). */
import type { ByteConnection } from "../../../core/world/mod.ts";
import type { Resolver } from "./resolver.ts";
import { MessageReader, writeMessage } from "../tcp_messages.ts";

/** Connections at once, and questions of one that wait for answers: more are not read. */
const MOST_CONNECTIONS = 256;
const MOST_WAITING = 32;

/** How long a connection may be silent, and the time; in milliseconds. */
interface Limits {
  readonly idle: number;
  readonly now: () => number;
}

/** Serves connections. */
export class TcpServer {
  readonly #open = new Set<Promise<void>>();

  constructor(private readonly resolver: Resolver, private readonly limits: Limits) {}

  /** Answers what comes on a connection until it ends or is silent for too long. */
  take(connection: ByteConnection): void {
    if (this.#open.size >= MOST_CONNECTIONS) return connection.close();
    const conversation = this.#serve(connection).finally(() => this.#open.delete(conversation));
    this.#open.add(conversation);
  }

  async #serve(connection: ByteConnection): Promise<void> {
    try {
      await new Conversation(connection, this.resolver, this.limits).run();
    } catch {
      // The client has gone, or was silent.
    }
    connection.close();
  }

  /** Resolves when all connections are closed. */
  async ended(): Promise<void> {
    await Promise.all(this.#open);
  }
}

/** One connection. */
class Conversation {
  /** Answers are written one after the other, each whole. */
  #written: Promise<void> = Promise.resolve();
  readonly #waiting = new Set<Promise<void>>();
  #active: number;
  #isEnded = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly connection: ByteConnection,
    private readonly resolver: Resolver,
    private readonly limits: Limits,
  ) {
    this.#active = limits.now();
  }

  async run(): Promise<void> {
    const reader = new MessageReader(this.connection);
    this.#watchSilence(this.limits.idle);
    try {
      for (;;) {
        const message = await reader.next();
        if (message === undefined) break;
        this.#take(message);
        if (this.#waiting.size >= MOST_WAITING) await Promise.race(this.#waiting);
        await this.#written;
        this.#active = this.limits.now();
      }
      // A client may close its side when it has asked all.
      await Promise.all(this.#waiting);
      await this.#written;
    } finally {
      this.#isEnded = true;
      clearTimeout(this.#timer);
    }
  }

  #take(message: Uint8Array): void {
    const answer = this.resolver.answer(message, "tcp", 0);
    if (answer instanceof Promise) this.#later(answer);
    else if (answer === undefined) this.connection.close();
    else this.#write(answer);
  }

  #later(answer: Promise<Uint8Array>): void {
    const done = answer.then((bytes) => {
      this.#waiting.delete(done);
      this.#active = this.limits.now();
      this.#write(bytes);
    });
    this.#waiting.add(done);
  }

  #write(answer: Uint8Array): void {
    this.#written = this.#written.then(() => writeMessage(this.connection, answer));
    this.#written.catch(() => this.connection.close());
  }

  /** Silence counts from the last question or answer; not while an answer is waited for. One timer for all of them. */
  #watchSilence(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      if (this.#isEnded) return;
      const left = this.limits.idle - (this.limits.now() - this.#active);
      if (this.#waiting.size === 0 && left <= 0) this.connection.close();
      else this.#watchSilence(left > 0 ? left : this.limits.idle);
    }, milliseconds);
  }
}
