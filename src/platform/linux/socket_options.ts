/**
 * Queries and changes sockets of this process (Linux). Deno does not expose file descriptors, so a socket is found by its
 * address.
 */
import { cInt, type Libc, openLibc } from "./libc.ts";
import { AF, endpointOf } from "./socket_address.ts";
import { SOCKET_OPTION_FUNCTIONS, socketLibc } from "./sockets.ts";
import { ENOENT, SystemError } from "../system_calls.ts";

type Symbols = Libc<typeof SOCKET_OPTION_FUNCTIONS>["symbols"];

/** Levels and options of socket(7), unix(7) and tcp(7). */
const SOL_SOCKET = 1;
const SO_TYPE = 3;
const SO_ERROR = 4;
const SO_KEEPALIVE = 9;
const SO_PEERCRED = 17;
const SO_ACCEPTCONN = 30;
const SOCK_DGRAM = 2;
const IPPROTO_TCP = 6;
const TCP_NODELAY = 1;
const TCP_KEEPIDLE = 4;
const TCP_KEEPINTVL = 5;
const TCP_KEEPCNT = 6;
const TCP_USER_TIMEOUT = 18;
/** Level and option that keep ICMP errors: IPPROTO_IP and IP_RECVERR, IPPROTO_IPV6 and IPV6_RECVERR. */
const KEEP_ERRORS = { [AF.inet]: [0, 11], [AF.inet6]: [41, 25] } as const;
/** Maximum file descriptor to search. The kernel assigns the lowest free number, so real numbers stay small. */
const MAX_FILES = 65_536;
const AF_UNIX = 1;
/** Size of `struct sockaddr_un`, the largest address: a family and a name. */
const ADDRESS_BYTES = 110;
/** Size of `struct ucred`: PID, user, group. The PID is 0 if the process is in another PID namespace. */
const CREDENTIALS_BYTES = 12;

type SocketOption = readonly [level: number, name: number, value: number];

/** TCP keepalive with the intervals of the gRPC pings in Istio's agent: after 30 s, then every 10 s. */
const KEEP_ALIVE: readonly SocketOption[] = [
  [SOL_SOCKET, SO_KEEPALIVE, 1],
  [IPPROTO_TCP, TCP_KEEPIDLE, 30],
  [IPPROTO_TCP, TCP_KEEPINTVL, 10],
  [IPPROTO_TCP, TCP_KEEPCNT, 3],
  // Otherwise the kernel retransmits unacknowledged bytes for a quarter of an hour.
  [IPPROTO_TCP, TCP_USER_TIMEOUT, 60_000],
  // HTTP/2 writes in pieces. Without this option, the second piece waits 40 ms for the acknowledgement of the first.
  [IPPROTO_TCP, TCP_NODELAY, 1],
];

/** Whether this process may call the C library: on Linux, until it gives up the permission `ffi`. */
export function mayCallLibrary(): boolean {
  return Deno.build.os === "linux" && Deno.permissions.querySync({ name: "ffi" }).state === "granted";
}

/**
 * Makes the kernel break a connection within a minute after the peer vanished, and send each write immediately. Deno's own
 * keepalive starts only after the kernel's two hours. Does nothing where the library cannot be called.
 */
export function keepAlive(connection: Deno.Conn<Deno.NetAddr>): void {
  if (!mayCallLibrary()) return;
  const { port } = connection.localAddr;
  using libc = openLibc(SOCKET_OPTION_FUNCTIONS);
  const file = fileWith((file) => ipEnd(libc.symbols, file)?.port === port);
  if (file !== undefined) KEEP_ALIVE.forEach((option) => setOption(libc.symbols, file, option));
}

/**
 * Makes the server on this port send each piece of a response immediately. New connections inherit the option. Without
 * the option, the second piece waits 40 ms for the acknowledgement of the first. Does nothing where the library cannot
 * be called.
 */
export function sendAtOnce(port: number): void {
  if (!mayCallLibrary()) return;
  using libc = openLibc(SOCKET_OPTION_FUNCTIONS);
  const file = fileWith((file) => isListener(libc.symbols, file) === true && ipEnd(libc.symbols, file)?.port === port);
  if (file !== undefined) setOption(libc.symbols, file, [IPPROTO_TCP, TCP_NODELAY, 1]);
}

/**
 * Makes the kernel keep ICMP errors for a UDP socket. By default the kernel keeps them only for connected sockets,
 * which Deno lacks. Returns a function that reports whether an error arrived since the last call.
 */
export function keepRefusals(port: number, hostname: string): () => boolean {
  const file = datagramFile(port, hostname);
  const { symbols } = socketLibc();
  const [level, option] = KEEP_ERRORS[familyOf(hostname)];
  setOption(symbols, file, [level, option, 1]);
  return () => (numberOf(symbols, file, SO_ERROR) ?? 0) !== 0;
}

/** Returns the file descriptor of the UDP socket of this process that is bound to a port. */
export function datagramFile(port: number, hostname: string): number {
  const { symbols } = socketLibc();
  const file = fileWith((file) => {
    const end = numberOf(symbols, file, SO_TYPE) === SOCK_DGRAM ? ipEnd(symbols, file) : undefined;
    return end?.port === port && end.family === familyOf(hostname);
  });
  if (file === undefined) throw new SystemError(`search for the socket of UDP port ${port}`, ENOENT);
  return file;
}

function familyOf(hostname: string): typeof AF.inet | typeof AF.inet6 {
  return hostname.includes(":") ? AF.inet6 : AF.inet;
}

/**
 * Whether this process is the peer of the single connection that the socket with this abstract name has accepted. If
 * not, another process of the network namespace has connected first.
 */
export function isConnectedByThis(name: string): boolean {
  using libc = openLibc(SOCKET_OPTION_FUNCTIONS);
  const { symbols } = libc;
  const file = fileWith((file) => isListener(symbols, file) === false && unixName(addressOf(symbols, file)) === name);
  return file !== undefined && numberOf(symbols, file, SO_PEERCRED, CREDENTIALS_BYTES) === Deno.pid;
}

export interface ListenerWatch {
  /** Whether the listener still listens; `undefined` if unknown. */
  isThere(): boolean | undefined;
  close(): void;
}

/** Watches the listener with this address, where the library can be called. Opens the library at the first check. */
export function watchListener(address: Deno.Addr): ListenerWatch {
  let opened: Libc<typeof SOCKET_OPTION_FUNCTIONS> | undefined;
  let isClosed = false;
  let known = -1;
  function find({ symbols }: Pick<Libc<typeof SOCKET_OPTION_FUNCTIONS>, "symbols">): boolean {
    const isIt = (file: number) => isListener(symbols, file) === true && isAt(addressOf(symbols, file), address);
    if (known < 0 || !isIt(known)) known = fileWith(isIt) ?? -1;
    return known >= 0;
  }
  return {
    isThere: () => isClosed || !mayCallLibrary() ? undefined : find(opened ??= openLibc(SOCKET_OPTION_FUNCTIONS)),
    close() {
      isClosed = true;
      opened?.close();
    },
  };
}

function isAt(bytes: Uint8Array | undefined, address: Deno.Addr): boolean {
  if ("path" in address) return unixName(bytes) === address.path;
  return "port" in address && ipEndOf(bytes)?.port === address.port;
}

/** Returns the first file descriptor of this process for which `isSocket` is true. */
function fileWith(isSocket: (file: number) => boolean): number | undefined {
  for (let file = 3; file < MAX_FILES; file++) if (isSocket(file)) return file;
  return undefined;
}

/** Whether a socket listens; `undefined` if the file is not a socket. */
export function isListener(symbols: Symbols, file: number): boolean | undefined {
  const value = numberOf(symbols, file, SO_ACCEPTCONN);
  return value === undefined ? undefined : value === 1;
}

/** Returns the local address family and port of a socket; `undefined` if the file is not an IP socket. */
export function ipEnd(symbols: Symbols, file: number) {
  return ipEndOf(addressOf(symbols, file));
}

function ipEndOf(address: Uint8Array | undefined) {
  const family = address?.[0];
  if (address === undefined || (family !== AF.inet && family !== AF.inet6)) return undefined;
  return { family, port: endpointOf(address).port };
}

/** Returns the local address of a socket; `undefined` for other files. */
function addressOf({ getsockname }: Symbols, file: number): Uint8Array<ArrayBuffer> | undefined {
  const [address, size] = [new Uint8Array(ADDRESS_BYTES), cInt(ADDRESS_BYTES)];
  if (getsockname(file, address, size) !== 0) return undefined;
  return address.subarray(0, new DataView(size.buffer).getUint32(0, true));
}

/** Returns the name of a Unix socket: a path without the final NUL, or an abstract name with the leading NUL. */
function unixName(address: Uint8Array | undefined): string | undefined {
  if (address?.[0] !== AF_UNIX) return undefined;
  return new TextDecoder().decode(address.subarray(2)).replace(/(?<=.)\0$/, "");
}

/** Returns the first number in an option of the level SOL_SOCKET; `undefined` for other files. Reading SO_ERROR clears it. */
function numberOf(symbols: Symbols, file: number, name: number, size = 4): number | undefined {
  return optionOf(symbols, file, [SOL_SOCKET, name, size])?.getInt32(0, true);
}

/** Returns the value of a socket option; `undefined` if the file has no such option. */
export function optionOf(
  { getsockopt }: Symbols,
  file: number,
  [level, name, size]: readonly [level: number, name: number, size: number],
): DataView | undefined {
  const value = new Uint8Array(size);
  return getsockopt(file, level, name, value, cInt(size)) === 0 ? new DataView(value.buffer) : undefined;
}

function setOption({ setsockopt }: Symbols, file: number, [level, name, value]: SocketOption): void {
  setsockopt(file, level, name, cInt(value), 4);
}
