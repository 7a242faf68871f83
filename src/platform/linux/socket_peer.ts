/** Queries the kernel about sockets of this process: the peer of a Unix socket (SO_PEERCRED of unix(7)), and listening sockets. */
import { openPeerLibc, type PeerLibc } from "./libc.ts";
import { AF, endpointOf } from "./socket_address.ts";
import { fileWith, SO_ACCEPTCONN, SOL_SOCKET } from "./socket_options.ts";

const AF_UNIX = 1;
const SO_PEERCRED = 17;
/** Size of `struct sockaddr_un`, which contains a family and a name. */
const ADDRESS_BYTES = 110;
/** Size of `struct ucred`: PID, user, group. The PID is 0 if the process is in another PID namespace. */
const CREDENTIALS_BYTES = 12;

/**
 * Whether this process is the peer of the single connection that the socket with this abstract name has accepted.
 * Another process of the network namespace could also connect.
 */
export function isConnectedByThis(name: string): boolean {
  const { symbols, close } = openPeerLibc();
  try {
    const file = fileWith((file) => isListener(symbols, file) === false && unixName(addressOf(symbols, file)) === name);
    return file !== undefined && numberIn(symbols, file, SO_PEERCRED, CREDENTIALS_BYTES) === Deno.pid;
  } finally {
    close();
  }
}

/** Checks whether a listener of this process still listens. */
export interface ListenerWatch {
  /** Whether the listener still listens; `undefined` if unknown. */
  isThere(): boolean | undefined;
  close(): void;
}

/**
 * Watches the listener with this address (only on Linux with the permission `ffi`). Opens the C library at the first
 * check.
 */
export function watchListener(address: Deno.Addr): ListenerWatch {
  let opened: PeerLibc | undefined;
  let isClosed = false;
  let known = -1;
  function find({ symbols }: PeerLibc): boolean {
    const isIt = (file: number) => isListener(symbols, file) === true && isAt(addressOf(symbols, file), address);
    if (known < 0 || !isIt(known)) known = fileWith(isIt) ?? -1;
    return known >= 0;
  }
  return {
    isThere() {
      const isPossible = Deno.build.os === "linux" && Deno.permissions.querySync({ name: "ffi" }).state === "granted";
      return isClosed || !isPossible ? undefined : find(opened ??= openPeerLibc());
    },
    close() {
      isClosed = true;
      opened?.close();
    },
  };
}

function isAt(bytes: Uint8Array | undefined, address: Deno.Addr): boolean {
  if (bytes === undefined) return false;
  if ("path" in address) return unixName(bytes) === address.path;
  const [family = 0] = bytes;
  return "port" in address && (family === AF.inet || family === AF.inet6) && endpointOf(bytes).port === address.port;
}

type Symbols = PeerLibc["symbols"];

/** Returns the first number in a socket option's value; `undefined` if the file has no such option. */
function numberIn({ getsockopt }: Symbols, file: number, option: number, size: number): number | undefined {
  const value = new Uint8Array(size);
  if (getsockopt(file, SOL_SOCKET, option, value, sizeBytes(size)) !== 0) return undefined;
  return new DataView(value.buffer).getInt32(0, true);
}

/** Whether a socket listens; `undefined` if the file is not a socket. */
function isListener(symbols: Symbols, file: number): boolean | undefined {
  const value = numberIn(symbols, file, SO_ACCEPTCONN, Int32Array.BYTES_PER_ELEMENT);
  return value === undefined ? undefined : value === 1;
}

/** Returns the local address of a socket; `undefined` for other files. */
function addressOf({ getsockname }: Symbols, file: number): Uint8Array<ArrayBuffer> | undefined {
  const address = new Uint8Array(ADDRESS_BYTES);
  const size = sizeBytes(ADDRESS_BYTES);
  if (getsockname(file, address, size) !== 0) return undefined;
  return address.subarray(0, new DataView(size.buffer).getUint32(0, true));
}

/** Returns the name of a Unix socket: a path without the final NUL, or an abstract name with the leading NUL. */
function unixName(address: Uint8Array | undefined): string | undefined {
  if (address?.[0] !== AF_UNIX) return undefined;
  return new TextDecoder().decode(address.subarray(2)).replace(/(?<=.)\0$/, "");
}

function sizeBytes(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Uint32Array.of(size).buffer);
}
