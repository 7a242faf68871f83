/** Questions over UDP. */
import type { DatagramAddress, DatagramSocket } from "../../../core/world/mod.ts";
import type { Resolver } from "./resolver.ts";

/** The longest message that UDP has. */
const LARGEST = 65_535;

/** Answers what comes to the socket until it is closed; resolves then. A message that cannot be answered ends nothing. */
export async function serveUdp(socket: DatagramSocket, resolver: Resolver, isClosed: () => boolean): Promise<void> {
  const buffer = new Uint8Array(LARGEST);
  while (!isClosed()) {
    try {
      const [message, from] = await socket.receive(buffer);
      const answer = resolver.answer(message, "udp", from.port);
      if (answer instanceof Promise) void later(socket, answer, from);
      else if (answer !== undefined) await socket.send(answer, from);
    } catch {
      // The kernel tells of a client that has gone here, too. Closed sockets reject always.
      if (!isClosed()) await breath();
    }
  }
}

async function later(socket: DatagramSocket, answer: Promise<Uint8Array>, to: DatagramAddress): Promise<void> {
  try {
    await socket.send(await answer, to);
  } catch {
    // The client has gone, or the socket is closed.
  }
}

/** An error that stays must not take the processor. */
function breath(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}
