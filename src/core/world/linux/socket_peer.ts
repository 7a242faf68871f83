/** Which process is at the other end of a Unix socket (unix(7), SO_PEERCRED). */
import { type PeerLibc, withPeerLibc } from "./libc.ts";
import { fileWith, SO_ACCEPTCONN, SOL_SOCKET } from "./socket_options.ts";

const AF_UNIX = 1;
const SO_PEERCRED = 17;
/** `struct sockaddr_un`: a family and a name. */
const ADDRESS_BYTES = 110;
/** `struct ucred`: process, user, group. The process is 0 if it is in another PID namespace. */
const CREDENTIALS_BYTES = 12;

/**
 * Whether this process is at the other end of the one connection that the socket with this abstract name has accepted, and
 * not another process of the network namespace.
 */
export function isConnectedByThis(name: string): boolean {
  return withPeerLibc((symbols) => {
    const file = fileWith((file) =>
      nameOf(symbols, file) === name && numberIn(symbols, file, SO_ACCEPTCONN, Int32Array.BYTES_PER_ELEMENT) === 0
    );
    return file !== undefined && numberIn(symbols, file, SO_PEERCRED, CREDENTIALS_BYTES) === Deno.pid;
  });
}

type Symbols = PeerLibc["symbols"];

/** The first number in the value of an option; `undefined` if the file has no such option. */
function numberIn({ getsockopt }: Symbols, file: number, option: number, size: number): number | undefined {
  const value = new Uint8Array(size);
  if (getsockopt(file, SOL_SOCKET, option, value, sizeBytes(size)) !== 0) return undefined;
  return new DataView(value.buffer).getInt32(0, true);
}

/** The name of a Unix socket, with the NUL of an abstract one; `undefined` for other files. */
function nameOf({ getsockname }: Symbols, file: number): string | undefined {
  const address = new Uint8Array(ADDRESS_BYTES);
  const size = sizeBytes(ADDRESS_BYTES);
  if (getsockname(file, address, size) !== 0 || address[0] !== AF_UNIX) return undefined;
  return new TextDecoder().decode(address.subarray(2, new DataView(size.buffer).getUint32(0, true)));
}

function sizeBytes(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Uint32Array.of(size).buffer);
}
