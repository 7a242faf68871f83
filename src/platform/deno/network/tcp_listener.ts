/** Listening TCP ports. */
import { MeshError, messageOf } from "../../../base/errors.ts";
import type { DatagramAddress, TcpHandler, TcpListener } from "../../connection.ts";
import { giveConnections } from "./connections.ts";

/** Implements `Network.listenTcp`. */
export function listenTcp(options: DatagramAddress, accepted: TcpHandler): TcpListener {
  const listener = bind(options);
  const close = giveConnections(listener, (connection, made) => {
    made.setNoDelay(true);
    accepted(connection, made.remoteAddr);
  });
  return { port: listener.addr.port, close };
}

function bind({ hostname, port }: DatagramAddress): Deno.TcpListener {
  try {
    return Deno.listen({ hostname, port });
  } catch (error) {
    throw new MeshError(`Cannot listen on TCP port ${port} of ${hostname}: ${messageOf(error)}`, { cause: error });
  }
}
