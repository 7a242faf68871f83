/** Wrappers of Deno's connections and listeners. */
import type { ByteConnection } from "../../connection.ts";

/** Wraps a connection so that it may be closed more than once. Calls `closed` the first time. */
export function closable(connection: Deno.Conn, closed?: () => void): ByteConnection {
  let isOpen = true;
  return {
    read: (buffer) => connection.read(buffer),
    write: (bytes) => connection.write(bytes),
    close() {
      if (!isOpen) return;
      isOpen = false;
      connection.close();
      closed?.();
    },
  };
}

/** Implements `ByteConnection.read` over a source of chunks. Buffers at most one chunk; `null` or an empty chunk marks the end. */
export function readFrom(next: () => Promise<Uint8Array | null>): ByteConnection["read"] {
  let rest: Uint8Array | null = new Uint8Array(0);
  return async (buffer) => {
    if (rest?.length === 0) rest = await next();
    if (rest === null || rest.length === 0) return null;
    const count = Math.min(rest.length, buffer.length);
    buffer.set(rest.subarray(0, count));
    rest = rest.subarray(count);
    return count;
  };
}

/** A listening TCP port or Unix socket. */
interface Listener<C> {
  accept(): Promise<C>;
  close(): void;
}

/** Milliseconds to wait after a failed accept, for example with too many open files. */
const RETRY_AFTER = 100;

/** Calls `take` with each accepted connection until the listener is closed. */
export async function acceptAll<C>(
  listener: Pick<Listener<C>, "accept">,
  take: (connection: C) => void,
): Promise<void> {
  for (;;) {
    try {
      take(await listener.accept());
    } catch (error) {
      if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
      await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER));
    }
  }
}

/** Calls `take` with each accepted connection. The returned function closes the listener and all open connections. */
export function giveConnections<C extends Deno.Conn>(
  listener: Listener<C>,
  accepted: (connection: ByteConnection, made: C) => void,
): () => Promise<void> {
  const open = new Set<ByteConnection>();
  const ended = acceptAll(listener, (made) => {
    const connection = closable(made, () => open.delete(connection));
    open.add(connection);
    accepted(connection, made);
  });
  return async () => {
    listener.close();
    await ended;
    for (const connection of [...open]) connection.close();
  };
}
