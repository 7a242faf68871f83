/** DNS over TCP: questions are pipelined, answers may come out of order (RFC 7766 6.2.1.1). */
import type { ByteConnection } from "../../../core/world/mod.ts";
import type { Resolver } from "./resolver.ts";
import { MessageReader, writeMessage } from "../tcp_messages.ts";

/** Maximum connections, and maximum pending questions per connection: reading stops then. */
const MOST_CONNECTIONS = 256;
const MOST_WAITING = 32;

/** Idle timeout and clock, in milliseconds. */
interface Limits {
  readonly idle: number;
  readonly now: () => number;
}

export class TcpServer {
  readonly #open = new Set<Promise<void>>();

  constructor(private readonly resolver: Resolver, private readonly limits: Limits) {}

  /** Serves a connection until it ends or is idle for too long. */
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

class Conversation {
  /** Answers are written one at a time. */
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
      // The client may half-close after its last question.
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

  /** Idle time counts from the last question or answer, not while an answer is pending. One timer per connection. */
  #watchSilence(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      if (this.#isEnded) return;
      const left = this.limits.idle - (this.limits.now() - this.#active);
      if (this.#waiting.size === 0 && left <= 0) this.connection.close();
      else this.#watchSilence(left > 0 ? left : this.limits.idle);
    }, milliseconds);
  }
}
