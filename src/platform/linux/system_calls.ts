/** System calls through the C library. Its symbols are opened on first use. */
import { programPath } from "../program_path.ts";
import { joinBytes } from "../../base/bytes.ts";
import { cInt, cText, type Libc, openLibc } from "./libc.ts";
import { memoryReleaser } from "./resident_pages.ts";
import { openSocket, socketLibc } from "./sockets.ts";
import { EAGAIN, type NetlinkSocket, type SystemCalls, SystemError } from "../system_calls.ts";

const AF_NETLINK = 16;
const SOCK_DGRAM = 2;
const SOCK_RAW = 3;
const SOCK_NONBLOCK = 0o4000;
/** Also the value of O_CLOEXEC for open(2). */
const SOCK_CLOEXEC = 0o2000000;
const CLONE_NEWNET = 0x40000000;
const MESSAGE_DONE = 3;
const MESSAGE_ERROR = 2;
const FLAG_MULTI = 2;
const LARGEST_ANSWER = 1 << 17;

/** The system calls of Linux. */
export const realSystemCalls: SystemCalls = {
  adoptOrphans,
  memoryReleaser,
  hasEndedChild,
  reap,
  netlink,
  openNetlink,
  enterNetworkNamespace,
  enterRoot,
  interfaceIndex: (name) => socketLibc().symbols.if_nametoindex(cText(name)) || undefined,
  internetOption,
  openSocket,
  execute,
};

const CHILD_FUNCTIONS = {
  prctl: { parameters: ["i32", "u64", "u64", "u64", "u64"], result: "i32" },
  waitid: { parameters: ["i32", "u32", "buffer", "i32"], result: "i32" },
  waitpid: { parameters: ["i32", "buffer", "i32"], result: "i32" },
} as const;

let openedForChildren: Libc<typeof CHILD_FUNCTIONS> | undefined;

function childLibc(): Libc<typeof CHILD_FUNCTIONS> {
  return openedForChildren ??= openLibc(CHILD_FUNCTIONS);
}

const PR_SET_CHILD_SUBREAPER = 36;

function adoptOrphans(): void {
  const { symbols, check } = childLibc();
  check("prctl", symbols.prctl(PR_SET_CHILD_SUBREAPER, 1n, 0n, 0n, 0n));
}

const P_ALL = 0;
const WNOHANG = 1;
const WEXITED = 4;
const WNOWAIT = 0x01000000;
const ECHILD = 10;
/** Size of `siginfo_t` in bytes. */
const SIGNAL_INFO = 128;
const SIGNAL_INFO_PID = 16;

/** Whether a child has exited. Leaves its status for the code that waits for the child (waitid(2), WNOWAIT). */
function hasEndedChild(): boolean {
  const { symbols, check, errno } = childLibc();
  const info = new DataView(new ArrayBuffer(SIGNAL_INFO));
  const result = symbols.waitid(P_ALL, 0, new Uint8Array(info.buffer), WEXITED | WNOHANG | WNOWAIT);
  if (result < 0 && errno() === ECHILD) return false;
  check("waitid", result);
  return info.getInt32(SIGNAL_INFO_PID, true) !== 0;
}

function reap(pid: number): void {
  const { symbols, check, errno } = childLibc();
  const result = symbols.waitpid(pid, null, WNOHANG);
  if (result < 0 && errno() === ECHILD) return;
  check("waitpid", result);
}

/** The receive buffer. Reused, because a new buffer per request costs more than the request. */
let received: Uint8Array<ArrayBuffer> | undefined;

function netlink(protocol: number, message: Uint8Array): Uint8Array {
  const { symbols, check } = socketLibc();
  const buffer = received ??= new Uint8Array(LARGEST_ANSWER);
  const socket = check("socket", symbols.socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
  try {
    // A failure without NET_ADMIN is ignored; the kernel then refuses the message.
    if (message.length > SMALL_MESSAGE) {
      symbols.setsockopt(socket, SOL_SOCKET, SO_SNDBUFFORCE, cInt(2 * message.length), 4);
    }
    sendMessage(socket, message);
    return readAnswer(() => receiveMessage(socket, buffer));
  } finally {
    symbols.close(socket);
  }
}

/** Maximum size of a message that fits into the default send buffer of every kernel, in bytes. */
const SMALL_MESSAGE = 1 << 16;
const SOL_SOCKET = 1;
const SO_SNDBUFFORCE = 32;

function sendMessage(socket: number, message: Uint8Array): void {
  const { symbols, check } = socketLibc();
  check("send", symbols.send(socket, new Uint8Array(message), BigInt(message.length), 0));
}

function receiveMessage(socket: number, buffer: Uint8Array<ArrayBuffer>): Uint8Array {
  const { symbols, check } = socketLibc();
  return buffer.slice(0, check("recv", symbols.recv(socket, buffer, BigInt(buffer.length), 0)));
}

function openNetlink(protocol: number, group: number): NetlinkSocket {
  const { symbols, check } = socketLibc();
  const buffer = new Uint8Array(LARGEST_ANSWER);
  const socket = check("socket", symbols.socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
  // struct sockaddr_nl: the family, the port ID (the kernel chooses it), and the bit mask of groups.
  const address = new Uint8Array(Uint32Array.of(AF_NETLINK, 0, 2 ** (group - 1)).buffer);
  check("bind", symbols.bind(socket, address, address.length));
  return {
    send: (message) => sendMessage(socket, message),
    receive() {
      try {
        return receiveMessage(socket, buffer);
      } catch (error) {
        if (error instanceof SystemError && error.errno === EAGAIN) return undefined;
        throw error;
      }
    },
    close: () => void symbols.close(socket),
  };
}

const INTERNET = { 4: { domain: 2, level: 0 }, 6: { domain: 10, level: 41 } } as const;

function internetOption(family: 4 | 6, option: number, value: Uint8Array): Uint8Array {
  const { symbols, check } = socketLibc();
  const { domain, level } = INTERNET[family];
  const socket = check("socket", symbols.socket(domain, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  try {
    const bytes = new Uint8Array(value);
    check("getsockopt", symbols.getsockopt(socket, level, option, bytes, cInt(bytes.length)));
    return bytes;
  } finally {
    symbols.close(socket);
  }
}

const PLACE_FUNCTIONS = {
  open: { parameters: ["buffer", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  setns: { parameters: ["i32", "i32"], result: "i32" },
  chdir: { parameters: ["buffer"], result: "i32" },
  chroot: { parameters: ["buffer"], result: "i32" },
} as const;

/** Moves this thread to another network namespace. This thread starts programs and opens sockets. */
function enterNetworkNamespace(path: string): void {
  using libc = openLibc(PLACE_FUNCTIONS);
  const { symbols, check } = libc;
  const file = check("open", symbols.open(cText(path), SOCK_CLOEXEC));
  try {
    check("setns", symbols.setns(file, CLONE_NEWNET));
  } finally {
    symbols.close(file);
  }
}

function enterRoot(path: string): void {
  using libc = openLibc(PLACE_FUNCTIONS);
  libc.check("chdir", libc.symbols.chdir(cText(path)));
  libc.check("chroot", libc.symbols.chroot(cText(".")));
}

/** Reads the parts of a netlink answer until the last one. */
function readAnswer(receive: () => Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  for (;;) {
    const part = receive();
    parts.push(part);
    if (endsAnswer(part)) return joinBytes(parts);
  }
}

function endsAnswer(part: Uint8Array): boolean {
  const view = new DataView(part.buffer, part.byteOffset, part.byteLength);
  for (let at = 0; at + 16 <= part.length; at += Math.max(16, (view.getUint32(at, true) + 3) & ~3)) {
    const type = view.getUint16(at + 4, true);
    if (type === MESSAGE_DONE || type === MESSAGE_ERROR || (view.getUint16(at + 6, true) & FLAG_MULTI) === 0) {
      return true;
    }
  }
  return part.length === 0;
}

const EXECUTE_FUNCTIONS = {
  execvp: { parameters: ["buffer", "buffer"], result: "i32" },
  signal: { parameters: ["i32", "usize"], result: "usize" },
} as const;
const SIGPIPE = 13;
/** SIG_DFL of signal(2). */
const DEFAULT_ACTION = 0n;

/**
 * Replaces this process with a program (execvp(3)). The kernel closes Deno's files and resets signal handlers. The runtime ignores
 * SIGPIPE, which the new program would inherit, so the default action is restored.
 */
function execute(file: string, args: readonly string[]): never {
  const argv = [file, ...args].map(cText);
  const pointers = new BigUint64Array(argv.length + 1);
  argv.forEach((text, index) => pointers[index] = BigInt(Deno.UnsafePointer.value(Deno.UnsafePointer.of(text))));
  const path = programPath(file);
  using libc = openLibc(EXECUTE_FUNCTIONS);
  const before = libc.symbols.signal(SIGPIPE, DEFAULT_ACTION);
  libc.symbols.execvp(cText(path), new Uint8Array(pointers.buffer));
  const failure = libc.errno();
  libc.symbols.signal(SIGPIPE, before);
  throw new SystemError(`execvp "${file}"`, failure);
}
