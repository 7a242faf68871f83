/**
 * UDP sockets of `node:dgram` with the methods of Deno's sockets, for a program compiled without `--unstable-net`. The
 * flag adds 1.1 ms to a start of 25 ms. `node:dgram` uses twice the processor time of Deno's sockets per datagram.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { DatagramAddress } from "../../connection.ts";

/** The part of Deno's UDP socket that this program uses. */
export interface Datagrams {
  readonly addr: Deno.Addr;
  receive(buffer: Uint8Array): Promise<[Uint8Array, Deno.Addr]>;
  send(bytes: Uint8Array, to: Deno.NetAddr): Promise<number>;
  close(): void;
}

/** Maximum number of queued datagrams. Further datagrams are dropped, as the kernel also does. */
const MAX_WAITING = 256;

/** Binds a socket. Rejects if it cannot be bound. */
export async function nodeDatagrams({ hostname, port }: DatagramAddress): Promise<Datagrams> {
  const socket = createSocket(hostname.includes(":") ? "udp6" : "udp4");
  const bound = once(socket, "listening");
  socket.bind(port, hostname);
  await bound;
  const waiting: (readonly [Uint8Array, Deno.NetAddr])[] = [];
  let changed = Promise.withResolvers<void>();
  let isOpen = true;
  socket.on("message", (bytes, { address, port }) => {
    if (waiting.length < MAX_WAITING) waiting.push([bytes, { transport: "udp", hostname: address, port }]);
    changed.resolve();
  });
  // Ignore ICMP errors caused by sent datagrams.
  socket.on("error", () => {});
  return {
    addr: { transport: "udp", hostname, port: socket.address().port },
    async receive(buffer) {
      for (;;) {
        if (!isOpen) throw new Deno.errors.BadResource("The socket is closed");
        const next = waiting.shift();
        if (next === undefined) {
          await changed.promise;
          changed = Promise.withResolvers();
          continue;
        }
        const [bytes, from] = next;
        const taken = bytes.subarray(0, buffer.length);
        buffer.set(taken);
        return [buffer.subarray(0, taken.length), from];
      }
    },
    send(bytes, to) {
      return new Promise((resolve, reject) => {
        socket.send(bytes, to.port, to.hostname, (error, count) => error ? reject(error) : resolve(count));
      });
    },
    close() {
      isOpen = false;
      changed.resolve();
      socket.close();
    },
  };
}
