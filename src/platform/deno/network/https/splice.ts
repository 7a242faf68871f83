/** Copies bytes between a client and a backend. */

const BUFFER_BYTES = 16 * 1024;
/**
 * Milliseconds that the client may still send after the end of the response: if the connection were closed at once, the
 * client could lose the response.
 */
const LINGER = 2000;

/** Called for each piece read from the client, and from the backend. */
export interface Watch {
  /** Bytes from the client; wait for a returned promise before the next read. It may close the connection. */
  received(bytes: Uint8Array): Promise<void> | undefined;
  moved(): void;
}

/** Copies both ways until the backend ends or a side breaks, then closes both. */
export async function splice(outer: Deno.Conn, inner: Deno.Conn, watch: Watch): Promise<void> {
  const linger = Promise.withResolvers<void>();
  const inward = copy(outer, inner, watch.received);
  const outward = copy(inner, outer, watch.moved);
  await outward;
  const timer = setTimeout(linger.resolve, LINGER);
  await Promise.race([inward, linger.promise]);
  clearTimeout(timer);
  closeBoth(outer, inner);
  await inward;
}

/** Closes connections that may be closed already. */
export function closeBoth(...connections: readonly Deno.Conn[]): void {
  for (const connection of connections) {
    try {
      connection.close();
    } catch {
      // It is closed.
    }
  }
}

/** Never rejects: a connection that breaks closes the other. */
async function copy(
  from: Deno.Conn,
  to: Deno.Conn,
  read: (bytes: Uint8Array) => Promise<void> | void,
): Promise<void> {
  const buffer = new Uint8Array(BUFFER_BYTES);
  try {
    for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
      const pause = read(buffer.subarray(0, count));
      for (let sent = 0; sent < count;) sent += await to.write(buffer.subarray(sent, count));
      await pause;
    }
    await to.closeWrite();
  } catch {
    // One of the two connections broke.
    closeBoth(from, to);
  }
}
