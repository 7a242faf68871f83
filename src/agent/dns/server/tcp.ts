/** Serves DNS over TCP. Questions are pipelined, and answers may come out of order (RFC 7766 6.2.1.1). */
import type { ByteConnection } from "../../../platform/mod.ts";
import type { Resolver } from "./resolver.ts";
import { MessageReader, writeMessage } from "../tcp_messages.ts";

/**
 * Maximum number of connections, and of pending questions per connection. A connection at its limit is not read until
 * an answer is sent.
 */
const MAX_CONNECTIONS = 256;
const MAX_PENDING = 32;

/** `idle` is in milliseconds, as is the clock `now`. */
interface Limits {
  readonly idle: number;
  readonly now: () => number;
}

export class TcpServer {
  readonly #open = new Set<Promise<void>>();

  constructor(private readonly resolver: Resolver, private readonly limits: Limits) {}

  /** Serves a connection until it ends or exceeds the idle timeout. */
  accept(connection: ByteConnection): void {
    if (this.#open.size >= MAX_CONNECTIONS) return connection.close();
    const served = new TcpSession(connection, this.resolver, this.limits).run();
    // A session rejects if the client disconnected or was idle.
    const session = served.catch(() => {}).finally(() => {
      connection.close();
      this.#open.delete(session);
    });
    this.#open.add(session);
  }

  async ended(): Promise<void> {
    await Promise.all(this.#open);
  }
}

class TcpSession {
  /** Resolves when all earlier answers are written, because answers are written one at a time. */
  #written: Promise<void> = Promise.resolve();
  readonly #pending = new Set<Promise<void>>();
  #lastActive: number;
  #isEnded = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly connection: ByteConnection,
    private readonly resolver: Resolver,
    private readonly limits: Limits,
  ) {
    this.#lastActive = limits.now();
  }

  async run(): Promise<void> {
    const reader = new MessageReader(this.connection);
    this.#watchIdle(this.limits.idle);
    try {
      for (;;) {
        const message = await reader.next();
        if (message === undefined) break;
        this.#answer(message);
        if (this.#pending.size >= MAX_PENDING) await Promise.race(this.#pending);
        await this.#written;
        this.#lastActive = this.limits.now();
      }
      // The client may half-close after its last question.
      await Promise.all(this.#pending);
      await this.#written;
    } finally {
      this.#isEnded = true;
      clearTimeout(this.#timer);
    }
  }

  #answer(message: Uint8Array): void {
    const answer = this.resolver.answer(message, "tcp", 0);
    if (answer instanceof Promise) this.#writeLater(answer);
    else if (answer === undefined) this.connection.close();
    else this.#write(answer);
  }

  #writeLater(answer: Promise<Uint8Array>): void {
    const done = answer.then((bytes) => {
      this.#pending.delete(done);
      this.#lastActive = this.limits.now();
      this.#write(bytes);
    });
    this.#pending.add(done);
  }

  #write(answer: Uint8Array): void {
    this.#written = this.#written.then(() => writeMessage(this.connection, answer));
    this.#written.catch(() => this.connection.close());
  }

  /** Closes an idle connection. Time counts from the last question or answer, but not while an answer is pending. */
  #watchIdle(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      if (this.#isEnded) return;
      const left = this.limits.idle - (this.limits.now() - this.#lastActive);
      if (this.#pending.size === 0 && left <= 0) this.connection.close();
      else this.#watchIdle(left > 0 ? left : this.limits.idle);
    }, milliseconds);
  }
}
