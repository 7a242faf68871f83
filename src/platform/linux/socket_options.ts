/**
 * Socket options that Deno does not offer. Does nothing on systems other than Linux. Deno does not expose file descriptors,
 * so the socket is found by its port.
 */
import { openSocketLibc, type OptionLibc, withOptionLibc } from "./libc.ts";
import { AF, endpointOf } from "./socket_address.ts";

/** Levels and options of socket(7) and tcp(7). */
export const SOL_SOCKET = 1;
const SO_TYPE = 3;
const SO_ERROR = 4;
const SO_KEEPALIVE = 9;
export const SO_ACCEPTCONN = 30;
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

/**
 * Makes the kernel break a connection within a minute after the peer vanished, and send each
 * write immediately. Deno's own keepalive starts only after the kernel's two hours. Does nothing in a command that gave up
 * `ffi`.
 */
export function keepAlive(connection: Deno.Conn<Deno.NetAddr>): void {
  if (Deno.build.os !== "linux" || Deno.permissions.querySync({ name: "ffi" }).state !== "granted") return;
  const { port } = connection.localAddr;
  withOptionLibc((symbols) => {
    const file = fileWith((file) => localEnd(symbols, file)?.port === port);
    if (file !== undefined) KEEP_ALIVE.forEach((option) => set(symbols, file, option));
  });
}

/**
 * Makes the server on this port send each piece of a response immediately. New connections inherit the option. Otherwise
 * the second piece waits 40 ms for the acknowledgement of the first.
 */
export function sendAtOnce(port: number): void {
  if (Deno.build.os !== "linux") return;
  const { symbols } = openSocketLibc();
  const file = fileWith((file) => optionOf(file, SO_ACCEPTCONN) === 1 && localEnd(symbols, file)?.port === port);
  if (file !== undefined) set(symbols, file, [IPPROTO_TCP, TCP_NODELAY, 1]);
}

/**
 * Makes the kernel keep ICMP errors for a UDP socket. By default the kernel keeps them only for connected sockets,
 * which Deno lacks. Returns a function that reports whether an error arrived since the last call; `undefined` where the
 * kernel has no such option.
 */
export function keepRefusals(port: number, hostname: string): (() => boolean) | undefined {
  const file = datagramFile(port, hostname);
  if (file === undefined) return undefined;
  const [level, option] = KEEP_ERRORS[familyOf(hostname)];
  set(openSocketLibc().symbols, file, [level, option, 1]);
  return () => (optionOf(file, SO_ERROR) ?? 0) !== 0;
}

/** Returns the file descriptor of the UDP socket bound to a port; `undefined` if not found. */
export function datagramFile(port: number, hostname: string): number | undefined {
  if (Deno.build.os !== "linux") return undefined;
  const { symbols } = openSocketLibc();
  return fileWith((file) => {
    const end = optionOf(file, SO_TYPE) === SOCK_DGRAM ? localEnd(symbols, file) : undefined;
    return end?.port === port && end.family === familyOf(hostname);
  });
}

function familyOf(hostname: string): typeof AF.inet | typeof AF.inet6 {
  return hostname.includes(":") ? AF.inet6 : AF.inet;
}

type Symbols = OptionLibc["symbols"];

/** Returns the first file descriptor of this process for which `isSocket` is true. */
export function fileWith(isSocket: (file: number) => boolean): number | undefined {
  for (let file = 3; file < MAX_FILES; file++) if (isSocket(file)) return file;
  return undefined;
}

/** Returns the local address family and port; `undefined` if the file is not an IP socket. */
function localEnd(symbols: Pick<Symbols, "getsockname">, file: number) {
  const address = new Uint8Array(28);
  if (symbols.getsockname(file, address, intBytes(address.length)) !== 0) return undefined;
  const [family = 0] = address;
  return family === AF.inet || family === AF.inet6 ? { family, port: endpointOf(address).port } : undefined;
}

/** Reads a socket option of the level SOL_SOCKET; `undefined` if the file is not a socket. Reading SO_ERROR clears it. */
function optionOf(file: number, option: number): number | undefined {
  const value = intBytes(0);
  const result = openSocketLibc().symbols.getsockopt(file, SOL_SOCKET, option, value, intBytes(value.length));
  return result === 0 ? new DataView(value.buffer).getInt32(0, true) : undefined;
}

function set({ setsockopt }: Pick<Symbols, "setsockopt">, file: number, [level, name, value]: SocketOption): void {
  setsockopt(file, level, name, intBytes(value), 4);
}

function intBytes(value: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Int32Array.of(value).buffer);
}
