/** TCP ports that are listened on for bytes. */
import { MeshError, messageOf } from "../errors.ts";
import type { ByteConnection } from "./byte_connection.ts";
import type { DatagramAddress, TcpHandler, TcpListener } from "./datagram.ts";
import { closable } from "./real_closable.ts";

/** How long to wait when no connection can be accepted, as with too many open files, in milliseconds. */
const BREATH = 100;

/** Gives away connections; see `Network.listenTcp`. */
export function listenTcp(options: DatagramAddress, accepted: TcpHandler): TcpListener {
  const listener = bind(options);
  const open = new Set<ByteConnection>();
  const ended = acceptAll(listener, (made) => {
    made.setNoDelay(true);
    const connection = closable(made, () => open.delete(connection));
    open.add(connection);
    accepted(connection, made.remoteAddr);
  });
  return {
    port: listener.addr.port,
    async close() {
      listener.close();
      await ended;
      for (const connection of [...open]) connection.close();
    },
  };
}

function bind({ hostname, port }: DatagramAddress): Deno.TcpListener {
  try {
    return Deno.listen({ hostname, port });
  } catch (error) {
    throw new MeshError(`Cannot listen on TCP port ${port} of ${hostname}: ${messageOf(error)}`, { cause: error });
  }
}

/** Until the listener is closed. */
async function acceptAll(listener: Deno.TcpListener, take: (connection: Deno.TcpConn) => void): Promise<void> {
  for (;;) {
    try {
      take(await listener.accept());
    } catch (error) {
      if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
      await new Promise((resolve) => setTimeout(resolve, BREATH));
    }
  }
}
