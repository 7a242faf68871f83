/** Bytes of one connection to another and back. */

const BUFFER_BYTES = 16 * 1024;
/** For so long a client that was told the end may go on sending: closed at once it might lose what it was sent before. */
const LINGER = 2000;

/** Both ways until the inner side ends, or either breaks; both are closed then. `moved` is told of each piece. */
export async function splice(outer: Deno.TcpConn, inner: Deno.TcpConn, moved: () => void): Promise<void> {
  const linger = Promise.withResolvers<void>();
  const inward = copy(outer, inner, moved);
  const outward = copy(inner, outer, moved);
  await outward;
  const timer = setTimeout(linger.resolve, LINGER);
  await Promise.race([inward, linger.promise]);
  clearTimeout(timer);
  closeBoth(outer, inner);
  await inward;
}

/** Ends both; what is closed already stays so. */
export function closeBoth(...connections: readonly Deno.TcpConn[]): void {
  for (const connection of connections) {
    try {
      connection.close();
    } catch {
      // It was closed before.
    }
  }
}

/** Never throws: a connection that breaks ends the other. */
async function copy(from: Deno.TcpConn, to: Deno.TcpConn, moved: () => void): Promise<void> {
  const buffer = new Uint8Array(BUFFER_BYTES);
  try {
    for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
      moved();
      for (let sent = 0; sent < count;) sent += await to.write(buffer.subarray(sent, count));
    }
    await to.closeWrite();
  } catch {
    closeBoth(from, to);
  }
}
