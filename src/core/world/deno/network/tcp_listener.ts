/** TCP ports that are listened on for bytes. */
import { MeshError, messageOf } from "../../../errors.ts";
import { acceptAll } from "./accept.ts";
import type { ByteConnection } from "../../byte_connection.ts";
import type { DatagramAddress, TcpHandler, TcpListener } from "../../datagram.ts";
import { closable } from "./closable.ts";

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
