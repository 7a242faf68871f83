/** DNS over UDP. */
import type { DatagramSocket } from "../../../core/world/mod.ts";
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
      if (answer instanceof Promise) answer.then((bytes) => socket.send(bytes, from)).catch(() => {});
      else if (answer !== undefined) await socket.send(answer, from);
    } catch {
      // ICMP errors of earlier answers are reported here too. A permanent error must not become a busy loop.
      if (!isClosed()) await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
