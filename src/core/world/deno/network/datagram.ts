/** UDP sockets. Deno's own take half of the processor time of those of `node:dgram`. */
import { MeshError, messageOf } from "../../../errors.ts";
import type { DatagramAddress, DatagramOptions, DatagramSocket } from "../../datagram.ts";
import { openSocketLibc } from "../../linux/libc.ts";

const SOL_SOCKET = 1;
const SO_TYPE = 3;
const SO_ERROR = 4;
const SOCK_DGRAM = 2;
const FAMILY = { 4: 2, 6: 10 } as const;
/** IPPROTO_IP and IP_RECVERR, IPPROTO_IPV6 and IPV6_RECVERR. */
const KEEP_ERRORS = { 4: [0, 11], 6: [41, 25] } as const;
/** A new file gets the lowest number that is free: the socket's is not above the number of open files. */
const MOST_FILES = 65_536;

/** Binds a UDP socket; see `Network.bindDatagram`. */
export function bindDatagram({ hostname, port, keepsRefusals = false }: DatagramOptions): DatagramSocket {
  const socket = bind({ hostname, port });
  const { addr } = socket;
  const own = addr.transport === "udp" ? addr.port : port;
  const file = keepsRefusals ? keepRefusals(own, hostname.includes(":") ? 6 : 4) : undefined;
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
    isRefused: () => isOpen && file !== undefined && hasError(file),
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

/**
 * The kernel keeps such errors for connected sockets alone, which Deno has none of, unless they are asked for, and Deno is not
 * woken by them. It does not tell the number of the file either: it is the UDP socket that has the port.
 */
function keepRefusals(port: number, family: 4 | 6): number | undefined {
  if (Deno.build.os !== "linux") return undefined;
  const { symbols } = openSocketLibc();
  const [value, address] = [new Uint8Array(4), new Uint8Array(28)];
  const [level, option] = KEEP_ERRORS[family];
  for (let file = 3; file < MOST_FILES; file++) {
    const isSocket = symbols.getsockopt(file, SOL_SOCKET, SO_TYPE, value, sizeOf(value)) === 0;
    if (!isSocket || value[0] !== SOCK_DGRAM) continue;
    const hasAddress = symbols.getsockname(file, address, sizeOf(address)) === 0;
    if (!hasAddress || address[0] !== FAMILY[family]) continue;
    if (new DataView(address.buffer).getUint16(2) !== port) continue;
    symbols.setsockopt(file, level, option, new Uint8Array([1, 0, 0, 0]), 4);
    return file;
  }
  return undefined;
}

/** Takes the error away. */
function hasError(file: number): boolean {
  const value = new Uint8Array(4);
  return openSocketLibc().symbols.getsockopt(file, SOL_SOCKET, SO_ERROR, value, sizeOf(value)) === 0 && value[0] !== 0;
}

function sizeOf({ length }: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array([length, 0, 0, 0]);
}
