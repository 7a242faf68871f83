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

export class TcpServer {
  readonly #open = new Set<Promise<void>>();

  /** `idle` is in milliseconds. */
  constructor(private readonly resolver: Resolver, private readonly idle: number) {}

  /** Serves a connection until it ends or exceeds the idle timeout. */
  accept(connection: ByteConnection): void {
    if (this.#open.size >= MAX_CONNECTIONS) return connection.close();
    // A session rejects if the client disconnected or was idle.
    const session = serve(connection, this.resolver, this.idle).catch(() => {}).finally(() => {
      connection.close();
      this.#open.delete(session);
    });
    this.#open.add(session);
  }

  async ended(): Promise<void> {
    await Promise.all(this.#open);
  }
}

async function serve(connection: ByteConnection, resolver: Resolver, idle: number): Promise<void> {
  const reader = new MessageReader(connection);
  const pending = new Set<Promise<void>>();
  /** Resolves when all earlier answers are written. Answers are written one at a time. */
  let written = Promise.resolve();
  let isEnded = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Restarts the idle timer, which closes the connection unless an answer is pending. */
  function restartIdle(): void {
    clearTimeout(timer);
    if (!isEnded) timer = setTimeout(() => pending.size === 0 && connection.close(), idle);
  }
  function write(answer: Uint8Array): void {
    written = written.then(() => writeMessage(connection, answer));
    written.catch(() => connection.close());
  }
  function answer(message: Uint8Array): void {
    const found = resolver.answer(message, "tcp", 0);
    if (found === undefined) return connection.close();
    if (!(found instanceof Promise)) return write(found);
    const done = found.then((bytes) => {
      pending.delete(done);
      restartIdle();
      write(bytes);
    });
    pending.add(done);
  }
  try {
    for (;;) {
      restartIdle();
      const message = await reader.next();
      if (message === undefined) break;
      answer(message);
      if (pending.size >= MAX_PENDING) await Promise.race(pending);
      await written;
    }
    // The client may half-close after its last question.
    await Promise.all(pending);
    await written;
  } finally {
    isEnded = true;
    clearTimeout(timer);
  }
}
