/** DNS over UDP. */
import type { DatagramAddress, DatagramSocket } from "../../../core/world/mod.ts";
import type { Resolver } from "./resolver.ts";

/** Maximum size of a UDP message. */
const MAX_SIZE = 65_535;

/** Answers datagrams until the socket is closed. A failed answer does not end the loop. */
export async function serveUdp(socket: DatagramSocket, resolver: Resolver, isClosed: () => boolean): Promise<void> {
  const buffer = new Uint8Array(MAX_SIZE);
  while (!isClosed()) {
    try {
      const [message, from] = await socket.receive(buffer);
      const answer = resolver.answer(message, "udp", from.port);
      if (answer instanceof Promise) void sendLater(socket, answer, from);
      else if (answer !== undefined) await socket.send(answer, from);
    } catch {
      // ICMP errors of earlier answers are reported here too. A closed socket always rejects.
      if (!isClosed()) await pause();
    }
  }
}

async function sendLater(socket: DatagramSocket, answer: Promise<Uint8Array>, to: DatagramAddress): Promise<void> {
  try {
    await socket.send(await answer, to);
  } catch {
    // The client disconnected, or the socket is closed.
  }
}

/** A permanent error must not become a busy loop. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}
