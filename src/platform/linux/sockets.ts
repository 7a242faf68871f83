/** Non-blocking sockets through the C library. */
import { cInt, type Libc, openLibc } from "./libc.ts";
import { AF, ALL_PROTOCOLS, endpointBytes, endpointOf, interfaceBytes } from "./socket_address.ts";
import { EAGAIN, EINPROGRESS, type Endpoint, type Socket, type SocketOptions, SystemError } from "../system_calls.ts";

/** Functions that describe sockets and set their options. */
export const SOCKET_OPTION_FUNCTIONS = {
  getsockname: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
  getsockopt: { parameters: ["i32", "i32", "i32", "buffer", "buffer"], result: "i32" },
  setsockopt: { parameters: ["i32", "i32", "i32", "buffer", "u32"], result: "i32" },
} as const;

const FUNCTIONS = {
  ...SOCKET_OPTION_FUNCTIONS,
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  send: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
  recv: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
  bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  listen: { parameters: ["i32", "i32"], result: "i32" },
  connect: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  accept4: { parameters: ["i32", "buffer", "buffer", "i32"], result: "i32" },
  setfsuid: { parameters: ["u32"], result: "i32" },
  setfsgid: { parameters: ["u32"], result: "i32" },
  if_nametoindex: { parameters: ["buffer"], result: "u32" },
} as const;

type SocketLibc = Libc<typeof FUNCTIONS>;

let opened: SocketLibc | undefined;

/** Opens the functions for sockets, once for the process. */
export function socketLibc(): SocketLibc {
  return opened ??= openLibc(FUNCTIONS);
}

const TYPES = { stream: 1, datagram: 2, packet: 3 } as const;
const NONBLOCK_CLOEXEC = 0o4000 | 0o2000000;
const NO_SIGNAL = 0x4000;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;
const SO_ERROR = 4;
const IPPROTO_TCP = 6;
const TCP_NODELAY = 1;
const IPPROTO_IPV6 = 41;
const IPV6_V6ONLY = 26;
/** Level and option of IP_TRANSPARENT and IPV6_TRANSPARENT. */
const TRANSPARENT = { 4: { level: 0, option: 19 }, 6: { level: IPPROTO_IPV6, option: 75 } } as const;
const BACKLOG = 16;
const received = new Uint8Array(1 << 16);

/** Opens a socket that belongs to the given user and group. */
export function openSocket(options: SocketOptions): Socket {
  const libc = socketLibc();
  const family = options.kind === "packet" ? AF.packet : options.family === 4 ? AF.inet : AF.inet6;
  const protocol = options.kind === "packet" ? ALL_PROTOCOLS << 8 : 0;
  const file = asOwner(
    libc,
    options,
    () => libc.check("socket", libc.symbols.socket(family, TYPES[options.kind] | NONBLOCK_CLOEXEC, protocol)),
  );
  try {
    setUp(libc, file, options);
    return socketOf(libc, file);
  } catch (error) {
    libc.symbols.close(file);
    throw error;
  }
}

/**
 * Runs an action with another file-system user and group. A socket keeps the user and group of the thread that opened
 * it (credentials(7)), and iptables rules match this user and group. Other threads of the process do not change.
 */
function asOwner<T>(libc: SocketLibc, { uid, gid }: SocketOptions, action: () => T): T {
  const before = {
    gid: gid === undefined ? undefined : libc.symbols.setfsgid(gid),
    uid: uid === undefined ? undefined : libc.symbols.setfsuid(uid),
  };
  try {
    if (uid !== undefined) mustBe("setfsuid", libc.symbols.setfsuid(uid), uid);
    if (gid !== undefined) mustBe("setfsgid", libc.symbols.setfsgid(gid), gid);
    return action();
  } finally {
    if (before.uid !== undefined) libc.symbols.setfsuid(before.uid);
    if (before.gid !== undefined) libc.symbols.setfsgid(before.gid);
  }
}

/** Throws unless setfsuid(2) or setfsgid(2) had an effect. They never report a failure; a second call returns the current id. */
function mustBe(call: string, found: number, wanted: number): void {
  if (found !== wanted) throw new SystemError(call, 1);
}

function setUp(libc: SocketLibc, file: number, { kind, family, transparent }: SocketOptions): void {
  if (kind === "packet") return;
  setOption(libc, file, SOL_SOCKET, SO_REUSEADDR);
  if (family === 6) setOption(libc, file, IPPROTO_IPV6, IPV6_V6ONLY);
  if (kind === "stream") setOption(libc, file, IPPROTO_TCP, TCP_NODELAY);
  if (transparent === true) setOption(libc, file, TRANSPARENT[family].level, TRANSPARENT[family].option);
}

function setOption(libc: SocketLibc, file: number, level: number, option: number): void {
  libc.check("setsockopt", libc.symbols.setsockopt(file, level, option, cInt(1), 4));
}

function socketOf(libc: SocketLibc, file: number): Socket {
  const { symbols, check } = libc;
  const bind = (bytes: Uint8Array<ArrayBuffer>) => void check("bind", symbols.bind(file, bytes, bytes.length));
  return {
    bind: (local) => bind(endpointBytes(local)),
    bindInterface: (index) => bind(interfaceBytes(index)),
    listen: () => void check("listen", symbols.listen(file, BACKLOG)),
    connect: (remote) => connect(libc, file, remote),
    accept: () => accept(libc, file),
    local() {
      const [bytes, size] = addressBuffers();
      check("getsockname", symbols.getsockname(file, bytes, size));
      return endpointOf(bytes);
    },
    failure() {
      const value = new Uint8Array(4);
      check("getsockopt", symbols.getsockopt(file, SOL_SOCKET, SO_ERROR, value, cInt(4)));
      return new DataView(value.buffer).getInt32(0, true);
    },
    send: (bytes) => void check("send", symbols.send(file, new Uint8Array(bytes), BigInt(bytes.length), NO_SIGNAL)),
    receive() {
      const count = unlessLater(libc, "recv", symbols.recv(file, received, BigInt(received.length), 0));
      return count === undefined ? undefined : received.slice(0, count);
    },
    close: () => void symbols.close(file),
  };
}

function connect(libc: SocketLibc, file: number, remote: Endpoint): void {
  const bytes = endpointBytes(remote);
  if (libc.symbols.connect(file, bytes, bytes.length) >= 0) return;
  if (libc.errno() !== EINPROGRESS) throw new SystemError("connect", libc.errno());
}

function accept(libc: SocketLibc, file: number): ReturnType<Socket["accept"]> {
  const [bytes, size] = addressBuffers();
  const found = unlessLater(libc, "accept", libc.symbols.accept4(file, bytes, size, NONBLOCK_CLOEXEC));
  return found === undefined ? undefined : { socket: socketOf(libc, found), remote: endpointOf(bytes) };
}

/** Returns a buffer for an address of any family, and a buffer with its size. */
function addressBuffers(): readonly [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>] {
  return [new Uint8Array(28), cInt(28)];
}

/** Returns the result of a call; `undefined` if the call would block. */
function unlessLater(libc: SocketLibc, call: string, result: number | bigint): number | undefined {
  if (result >= 0) return Number(result);
  const errno = libc.errno();
  if (errno === EAGAIN) return undefined;
  throw new SystemError(call, errno);
}
