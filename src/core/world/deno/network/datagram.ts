/** UDP sockets of Deno, which take half of the processor time of `node:dgram`. */
import { MeshError, messageOf } from "../../../errors.ts";
import type { DatagramAddress, DatagramOptions, DatagramSocket } from "../../connection.ts";
import { keepRefusals } from "../../linux/socket_options.ts";

/** Binds a UDP socket; see `Network.bindDatagram`. */
export function bindDatagram({ hostname, port, keepsRefusals = false }: DatagramOptions): DatagramSocket {
  const socket = bind({ hostname, port });
  const { addr } = socket;
  const own = addr.transport === "udp" ? addr.port : port;
  const isRefused = keepsRefusals ? keepRefusals(own, hostname) : undefined;
  let isOpen = true;
  return {
    port: own,
    async receive(buffer) {
      const [bytes, from] = await socket.receive(buffer);
      return [bytes, addressOf(from)];
    },
    async send(bytes, { hostname, port }) {
      await socket.send(bytes, { transport: "udp", hostname, port });
    },
    isRefused: () => isOpen && isRefused?.() === true,
    close() {
      if (isOpen) socket.close();
      isOpen = false;
    },
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
  if (from.transport !== "udp") throw new TypeError(`A datagram came by ${from.transport}`);
  return from;
}
