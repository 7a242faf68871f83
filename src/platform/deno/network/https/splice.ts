/** Copies bytes between a client and a backend. */

const BUFFER_BYTES = 16 * 1024;
/**
 * Milliseconds that the client may still send after the end of the response: if the connection were closed immediately, the
 * client could lose the response.
 */
const LINGER = 2000;

/** Callbacks for bytes read from the client and from the backend. */
export interface Watch {
  /** Called with bytes from the client. The next read waits for a returned promise. May close the connection. */
  received(bytes: Uint8Array): Promise<void> | undefined;
  moved(): void;
}

/** Copies bytes in both directions until the backend closes or a side breaks, then closes both connections. */
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
      // The connection is already closed.
    }
  }
}

/** Copies bytes from one connection to the other. Never rejects; a broken connection closes both. */
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
