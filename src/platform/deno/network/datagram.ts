/** UDP sockets. Deno's sockets use half the processor time of `node:dgram` sockets. */
import { MeshError, messageOf } from "../../../base/errors.ts";
import { parseAddress } from "../../../golang/net/mod.ts";
import type { DatagramAddress, DatagramOptions, DatagramSocket } from "../../connection.ts";
import { DatagramServer } from "../../linux/datagrams.ts";
import { endpointBytes } from "../../linux/socket_address.ts";
import { datagramFile, keepRefusals } from "../../linux/socket_options.ts";

/** Binds a UDP socket; see `Network.bindDatagram`. */
export function bindDatagram({ hostname, port, keepsRefusals = false }: DatagramOptions): DatagramSocket {
  const socket = bind({ hostname, port });
  const own = addressOf(socket.addr).port;
  const isRefused = keepsRefusals ? keepRefusals(own, hostname) : undefined;
  let isOpen = true;
  let server: DatagramServer | undefined;
  return {
    port: own,
    async receive(buffer) {
      const [bytes, from] = await socket.receive(buffer);
      return [bytes, addressOf(from)];
    },
    async send(bytes, { hostname, port }) {
      await socket.send(bytes, { transport: "udp", hostname, port });
    },
    serve(handler) {
      server = new DatagramServer(datagramFile(own, hostname), handler);
      return serve(socket, answerer(server), () => isOpen);
    },
    isRefused: () => isOpen && isRefused?.() === true,
    close() {
      server?.close();
      if (isOpen) socket.close();
      isOpen = false;
    },
  };
}

const MAX_SIZE = 65_535;

type Answerer = (bytes: Uint8Array, from: DatagramAddress) => void;

/**
 * Answers datagrams until the socket is closed. Deno's socket receives the first datagram; the answerer then reads further
 * queued datagrams in one call.
 */
async function serve(socket: Deno.DatagramConn, answer: Answerer, isOpen: () => boolean): Promise<void> {
  const buffer = new Uint8Array(MAX_SIZE);
  while (isOpen()) {
    try {
      const [bytes, from] = await socket.receive(buffer);
      answer(bytes, addressOf(from));
    } catch {
      // Errors here include ICMP errors caused by earlier answers. The pause prevents a busy loop on a permanent error.
      if (isOpen()) await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** Returns an answerer that uses the socket's file descriptor. Caches the address of the last client, because clients are few. */
function answerer(server: DatagramServer): Answerer {
  let [known, name] = ["", new Uint8Array()];
  return (bytes, { hostname, port }) => {
    if (hostname !== known) {
      const address = parseAddress(hostname);
      if (typeof address === "string") throw new TypeError(address);
      [known, name] = [hostname, endpointBytes({ address, port })];
    }
    name[2] = port >> 8;
    name[3] = port & 255;
    server.answer(bytes, port, name);
  };
}

function bind(address: DatagramAddress): Deno.DatagramConn {
  try {
    return Deno.listenDatagram({ transport: "udp", ...address });
  } catch (error) {
    const text = `Cannot listen on UDP port ${address.port} of ${address.hostname}: ${messageOf(error)}`;
    throw new MeshError(text, { cause: error });
  }
}

function addressOf(from: Deno.Addr): DatagramAddress {
  if (from.transport !== "udp") throw new TypeError(`Expected a UDP datagram, got ${from.transport}`);
  return from;
}
