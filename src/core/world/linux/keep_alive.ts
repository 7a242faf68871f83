import { type OptionLibc, withOptionLibc } from "./libc.ts";
import { endpointOf } from "./socket_address.ts";

const SOL_SOCKET = 1;
const SO_KEEPALIVE = 9;
const IPPROTO_TCP = 6;
const TCP_NODELAY = 1;
const TCP_KEEPIDLE = 4;
const TCP_KEEPINTVL = 5;
const TCP_KEEPCNT = 6;
const TCP_USER_TIMEOUT = 18;
/** A new file gets the lowest number that is free; nobody has so many open in a program that dials few servers. */
const MOST_FILES = 4096;

/** Level, name and value of what is set: what gRPC pings for in Istio's agent, after 30 s and each 10 s, by the kernel. */
const OPTIONS: readonly (readonly [level: number, option: number, value: number])[] = [
  [SOL_SOCKET, SO_KEEPALIVE, 1],
  [IPPROTO_TCP, TCP_KEEPIDLE, 30],
  [IPPROTO_TCP, TCP_KEEPINTVL, 10],
  [IPPROTO_TCP, TCP_KEEPCNT, 3],
  // Bytes that nobody acknowledges would be sent again for a quarter of an hour.
  [IPPROTO_TCP, TCP_USER_TIMEOUT, 60_000],
  // HTTP/2 sends in pieces, of which the second would wait 40 ms for the acknowledgement of the first.
  [IPPROTO_TCP, TCP_NODELAY, 1],
];

/**
 * Lets a TCP connection whose other end has gone without a word break within a minute, without a timer of this process, and
 * sends each piece at once (Linux). Deno has a switch for keepalive, but the kernel's default is to begin after two hours.
 * Elsewhere nothing is done.
 */
export function keepAlive(connection: Deno.Conn<Deno.NetAddr>): void {
  if (Deno.build.os !== "linux") return;
  const { port } = connection.localAddr;
  withOptionLibc((symbols) => {
    const file = fileOf(port, symbols);
    if (file === undefined) return;
    for (const [level, option, value] of OPTIONS) {
      symbols.setsockopt(file, level, option, new Uint8Array(Int32Array.of(value).buffer), 4);
    }
  });
}

/** The file of the connection from a port of this machine. */
function fileOf(port: number, symbols: OptionLibc["symbols"]): number | undefined {
  const address = new Uint8Array(28);
  for (let file = 3; file < MOST_FILES; file++) {
    const size = new Uint8Array(Uint32Array.of(address.length).buffer);
    if (symbols.getsockname(file, address, size) !== 0) continue;
    const family = address[0];
    if ((family === AF_INET || family === AF_INET6) && endpointOf(address).port === port) return file;
  }
  return undefined;
}

const AF_INET = 2;
const AF_INET6 = 10;
