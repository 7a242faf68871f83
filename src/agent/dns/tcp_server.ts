/** Questions over TCP: several on a connection, answered as the answers come (RFC 7766 6.2.1.1). */
import type { ByteConnection } from "../../core/world/mod.ts";
import type { Resolver } from "./resolver.ts";
import { MessageReader, writeMessage } from "./stream.ts";

/** Connections at once, and questions of one that wait for answers: more are not read. */
const MOST_CONNECTIONS = 256;
const MOST_WAITING = 32;

/** Serves connections. */
export class TcpServer {
  readonly #open = new Set<ByteConnection>();

  constructor(private readonly resolver: Resolver, private readonly idle: number) {}

  /** Answers what comes on a connection until it ends or is silent for too long. */
  async serve(connection: ByteConnection): Promise<void> {
    if (this.#open.size >= MOST_CONNECTIONS) return connection.close();
    this.#open.add(connection);
    try {
      await new Conversation(connection, this.resolver, this.idle).run();
    } catch {
      // The client has gone, or was silent.
    } finally {
      this.#open.delete(connection);
      connection.close();
    }
  }
}

/** One connection. */
class Conversation {
  /** Answers are written one after the other, each whole. */
  #written: Promise<void> = Promise.resolve();
  readonly #waiting = new Set<Promise<void>>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly connection: ByteConnection,
    private readonly resolver: Resolver,
    private readonly idle: number,
  ) {}

  async run(): Promise<void> {
    const reader = new MessageReader(this.connection);
    this.#wake();
    try {
      for (;;) {
        const message = await reader.next();
        if (message === undefined) break;
        this.#take(message);
        if (this.#waiting.size >= MOST_WAITING) await Promise.race(this.#waiting);
        await this.#written;
        this.#wake();
      }
      // A client may close its side when it has asked all.
      await Promise.all(this.#waiting);
      await this.#written;
    } finally {
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
      this.#wake();
      this.#write(bytes);
    });
    this.#waiting.add(done);
  }

  #write(answer: Uint8Array): void {
    this.#written = this.#written.then(() => writeMessage(this.connection, answer));
    this.#written.catch(() => this.connection.close());
  }

  /** Silence counts from the last question or answer; not while an answer is waited for. */
  #wake(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#waiting.size > 0) this.#wake();
      else this.connection.close();
    }, this.idle);
  }
}
