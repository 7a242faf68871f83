/** System calls through the C library. Its symbols are opened on first use. */
import { programPath } from "../program_path.ts";
import { kernelCalls } from "./kernel_calls.ts";
import { type ChildLibc, cText, openChildLibc, openSocketLibc, type SocketLibc, withExecuteLibc } from "./libc.ts";
import { memoryReleaser } from "./resident_pages.ts";
import { openSocket } from "./sockets.ts";
import { EAGAIN, type NetlinkSocket, type SystemCalls, SystemError } from "../system_calls.ts";

const AF_NETLINK = 16;
const SOCK_RAW = 3;
const CLONE_NEWNET = 0x40000000;
const MESSAGE_DONE = 3;
const MESSAGE_ERROR = 2;
const FLAG_MULTI = 2;
const LARGEST_ANSWER = 1 << 17;

/** Returns the system calls of Linux. */
export function realSystemCalls(): SystemCalls {
  let openedForChildren: ChildLibc | undefined;
  const childLibc = () => openedForChildren ??= openChildLibc();
  return {
    adoptOrphans: () => adoptOrphans(childLibc()),
    memoryReleaser,
    hasEndedChild: () => hasEndedChild(childLibc()),
    reap: (pid) => reap(childLibc(), pid),
    netlink,
    openNetlink,
    enterNetworkNamespace,
    enterRoot,
    interfaceIndex: (name) => openSocketLibc().symbols.if_nametoindex(cText(name)) || undefined,
    internetOption: (family, option, value) => internetOption(openSocketLibc(), family, option, value),
    openSocket: (options) => openSocket(openSocketLibc(), options),
    execute,
  };
}

const PR_SET_CHILD_SUBREAPER = 36;

function adoptOrphans({ symbols, check }: ChildLibc): void {
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
function hasEndedChild({ symbols, check, errno }: ChildLibc): boolean {
  const info = new DataView(new ArrayBuffer(SIGNAL_INFO));
  const result = symbols.waitid(P_ALL, 0, new Uint8Array(info.buffer), WEXITED | WNOHANG | WNOWAIT);
  if (result < 0 && errno() === ECHILD) return false;
  check("waitid", result);
  return info.getInt32(SIGNAL_INFO_PID, true) !== 0;
}

function reap({ symbols, check, errno }: ChildLibc, pid: number): void {
  const result = symbols.waitpid(pid, null, WNOHANG);
  if (result < 0 && errno() === ECHILD) return;
  check("waitpid", result);
}

/** The receive buffer. Reused, because a new buffer per request costs more than the request. */
let received: Uint8Array<ArrayBuffer> | undefined;

function netlink(protocol: number, message: Uint8Array): Uint8Array {
  const kernel = kernelCalls();
  const buffer = received ??= new Uint8Array(LARGEST_ANSWER);
  const socket = kernel.socket(AF_NETLINK, SOCK_RAW, protocol);
  try {
    if (message.length > SMALL_MESSAGE) growSendBuffer(socket, message.length);
    kernel.write(socket, new Uint8Array(message));
    return readAnswer(() => buffer.slice(0, kernel.read(socket, buffer)));
  } finally {
    kernel.close(socket);
  }
}

/** Maximum size of a message that fits into the default send buffer of every kernel, in bytes. */
const SMALL_MESSAGE = 1 << 16;
const SOL_SOCKET = 1;
const SO_SNDBUFFORCE = 32;

/**
 * Enlarges the send buffer for a message of this size. Ignores a failure without NET_ADMIN; the kernel then refuses the
 * message.
 */
function growSendBuffer(socket: number, size: number): void {
  const { symbols } = openSocketLibc();
  symbols.setsockopt(socket, SOL_SOCKET, SO_SNDBUFFORCE, new Uint8Array(Uint32Array.of(2 * size).buffer), 4);
}

const SOCK_NONBLOCK = 0o4000;

function openNetlink(protocol: number, group: number): NetlinkSocket {
  const kernel = kernelCalls();
  const buffer = new Uint8Array(LARGEST_ANSWER);
  const socket = kernel.socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK, protocol);
  // struct sockaddr_nl: the family, the port ID (the kernel chooses it), and the bit mask of groups.
  kernel.bind(socket, new Uint8Array(Uint32Array.of(AF_NETLINK, 0, 2 ** (group - 1)).buffer));
  return {
    send: (message) => kernel.write(socket, new Uint8Array(message)),
    receive() {
      try {
        return buffer.slice(0, kernel.read(socket, buffer));
      } catch (error) {
        if (error instanceof SystemError && error.errno === EAGAIN) return undefined;
        throw error;
      }
    },
    close: () => kernel.close(socket),
  };
}

const INTERNET = { 4: { domain: 2, level: 0 }, 6: { domain: 10, level: 41 } } as const;
const SOCK_DGRAM_CLOEXEC = 2 | 0o2000000;

function internetOption({ symbols, check }: SocketLibc, family: 4 | 6, option: number, value: Uint8Array): Uint8Array {
  const { domain, level } = INTERNET[family];
  const socket = check("socket", symbols.socket(domain, SOCK_DGRAM_CLOEXEC, 0));
  try {
    const bytes = new Uint8Array(value);
    const size = new Uint8Array(Uint32Array.of(bytes.length).buffer);
    check("getsockopt", symbols.getsockopt(socket, level, option, bytes, size));
    return bytes;
  } finally {
    symbols.close(socket);
  }
}

/** Moves this thread to another network namespace. This thread starts programs and opens sockets. */
function enterNetworkNamespace(path: string): void {
  const kernel = kernelCalls();
  const file = kernel.open(path);
  try {
    kernel.setns(file, CLONE_NEWNET);
  } finally {
    kernel.close(file);
  }
}

function enterRoot(path: string): void {
  const kernel = kernelCalls();
  kernel.enterFolder(path);
  kernel.enterRoot(".");
}

/** Reads the parts of a netlink answer until the last one. */
function readAnswer(receive: () => Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  for (;;) {
    const part = receive();
    parts.push(part);
    if (endsAnswer(part)) break;
  }
  const answer = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    answer.set(part, at);
    at += part.length;
  }
  return answer;
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
  let failure = 0;
  withExecuteLibc(({ symbols, errno }) => {
    const before = symbols.signal(SIGPIPE, DEFAULT_ACTION);
    symbols.execvp(cText(path), new Uint8Array(pointers.buffer));
    failure = errno();
    symbols.signal(SIGPIPE, before);
  });
  throw new SystemError(`execvp "${file}"`, failure);
}
