import { openSocketLibc } from "./libc.ts";

const SOL_SOCKET = 1;
const SO_ACCEPTCONN = 30;
const IPPROTO_TCP = 6;
const TCP_NODELAY = 1;
/** A new file gets the lowest number that is free: the listener's is not above the number of open files. */
const MOST_FILES = 65_536;

/**
 * Lets the server that listens on a port of this machine send each piece of an answer at once. HTTP/2 writes the head and
 * the body of an answer one after the other, and the second waits 40 ms for the acknowledgement of the first otherwise;
 * Deno has no switch for it. Connections have this option from their listener (Linux). Elsewhere nothing is done.
 */
export function sendAtOnce(port: number): void {
  if (Deno.build.os !== "linux") return;
  const { symbols } = openSocketLibc();
  const [value, address] = [new Uint8Array(4), new Uint8Array(28)];
  const size = () => new Uint8Array([value.length, 0, 0, 0]);
  for (let file = 3; file < MOST_FILES; file++) {
    const isSocket = symbols.getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, value, size()) === 0;
    if (!isSocket || value[0] !== 1) continue;
    const hasAddress = symbols.getsockname(file, address, new Uint8Array([address.length, 0, 0, 0])) === 0;
    if (!hasAddress || new DataView(address.buffer).getUint16(2) !== port) continue;
    symbols.setsockopt(file, IPPROTO_TCP, TCP_NODELAY, new Uint8Array([1, 0, 0, 0]), 4);
    return;
  }
}
