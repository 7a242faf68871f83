/** The symbols of the C library (glibc) that this program calls. Every open function throws `SystemError` where there is no glibc. */
import { SystemError } from "../system_calls.ts";

/** The signatures of calls, by what they are opened for. A function, as a hundred objects take each start 0.1 ms. */
function makeSignatures() {
  const calls = {
    socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
    send: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
    recv: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
    close: { parameters: ["i32"], result: "i32" },
    __errno_location: { parameters: [], result: "pointer" },
  } as const;

  /** The number of a system call and its arguments; the second may be a buffer. */
  const kernel = {
    syscall: { parameters: ["isize", "isize", "isize", "isize", "isize"], result: "isize" },
    syscallWithBytes: { name: "syscall", parameters: ["isize", "isize", "buffer", "isize", "isize"], result: "isize" },
    __errno_location: calls.__errno_location,
  } as const;

  const execute = {
    __errno_location: calls.__errno_location,
    execvp: { parameters: ["buffer", "buffer"], result: "i32" },
    signal: { parameters: ["i32", "usize"], result: "usize" },
  } as const;

  const socket = {
    ...calls,
    bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
    listen: { parameters: ["i32", "i32"], result: "i32" },
    connect: { parameters: ["i32", "buffer", "u32"], result: "i32" },
    accept4: { parameters: ["i32", "buffer", "buffer", "i32"], result: "i32" },
    getsockname: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
    getsockopt: { parameters: ["i32", "i32", "i32", "buffer", "buffer"], result: "i32" },
    setsockopt: { parameters: ["i32", "i32", "i32", "buffer", "u32"], result: "i32" },
    setfsuid: { parameters: ["u32"], result: "i32" },
    setfsgid: { parameters: ["u32"], result: "i32" },
    if_nametoindex: { parameters: ["buffer"], result: "u32" },
  } as const;

  const option = {
    getsockname: socket.getsockname,
    setsockopt: socket.setsockopt,
  } as const;

  const peer = {
    getsockname: socket.getsockname,
    getsockopt: socket.getsockopt,
  } as const;

  const limit = {
    ...peer,
    shutdown: { parameters: ["i32", "i32"], result: "i32" },
  } as const;

  const datagram = {
    recvmmsg: { parameters: ["i32", "buffer", "u32", "i32", "pointer"], result: "i32" },
    sendmmsg: { parameters: ["i32", "buffer", "u32", "i32"], result: "i32" },
  } as const;

  const trim = {
    malloc_trim: { parameters: ["usize"], result: "i32" },
  } as const;

  const child = {
    ...calls,
    prctl: { parameters: ["i32", "u64", "u64", "u64", "u64"], result: "i32" },
    waitid: { parameters: ["i32", "u32", "buffer", "i32"], result: "i32" },
    waitpid: { parameters: ["i32", "buffer", "i32"], result: "i32" },
  } as const;

  const spawn = {
    posix_spawnp: { parameters: ["buffer", "buffer", "buffer", "pointer", "buffer", "buffer"], result: "i32" },
    posix_spawn_file_actions_adddup2: { parameters: ["buffer", "i32", "i32"], result: "i32" },
  } as const;
  return { calls, kernel, execute, socket, option, peer, limit, datagram, trim, child, spawn };
}

type Signatures = ReturnType<typeof makeSignatures>;

let signatures: Signatures | undefined;

function signaturesOf<Kind extends keyof Signatures>(kind: Kind): Signatures[Kind] {
  return (signatures ??= makeSignatures())[kind];
}

/** Open symbols; `check` turns a negative result into a `SystemError` with errno. */
interface Opened<Symbols extends Pick<Signatures["calls"], "__errno_location">> {
  readonly symbols: Deno.StaticForeignLibraryInterface<Symbols>;
  check(call: string, result: number | bigint): number;
  errno(): number;
}

export type KernelLibc = Opened<Signatures["kernel"]>;
export type ExecuteLibc = Opened<Signatures["execute"]>;
export type SocketLibc = Opened<Signatures["socket"]>;
export type OptionLibc = Deno.DynamicLibrary<Signatures["option"]>;
export type PeerLibc = Pick<Deno.DynamicLibrary<Signatures["peer"]>, "symbols" | "close">;
export type LimitLibc = Pick<Deno.DynamicLibrary<Signatures["limit"]>, "symbols" | "close">;
export type DatagramLibc = Pick<Deno.DynamicLibrary<Signatures["datagram"]>, "symbols" | "close">;
export type SpawnLibc = Deno.DynamicLibrary<Signatures["spawn"]>;
export type ChildLibc = Opened<Signatures["child"]>;

const ENOSYS = 38;

/** Opens the symbols for system calls by number. */
export function openKernelLibc(): KernelLibc {
  return withErrno(openLibrary(() => Deno.dlopen(LIBRARY, signaturesOf("kernel"))).symbols);
}

/** Opens the symbols for execvp(3), for one use. */
export function withExecuteLibc(use: (libc: ExecuteLibc) => void): void {
  const library = openLibrary(() => Deno.dlopen(LIBRARY, signaturesOf("execute")));
  try {
    use(withErrno(library.symbols));
  } finally {
    library.close();
  }
}

/** Opens the symbols for socket options, for one use. */
export function withOptionLibc(use: (symbols: OptionLibc["symbols"]) => void): void {
  const library = openLibrary(() => Deno.dlopen(LIBRARY, signaturesOf("option")));
  try {
    use(library.symbols);
  } finally {
    library.close();
  }
}

let openedTrim: Deno.DynamicLibrary<Signatures["trim"]> | undefined;

/** Opens the symbol for malloc_trim(3), once. */
export function openTrimLibc(): Deno.DynamicLibrary<Signatures["trim"]>["symbols"] {
  return (openedTrim ??= openLibrary(() => Deno.dlopen(LIBRARY, signaturesOf("trim")))).symbols;
}

/** Opens the symbols that tell about sockets; the caller closes them. */
export function openPeerLibc(): PeerLibc {
  const library = openLibrary(() => Deno.dlopen(LIBRARY, signaturesOf("peer")));
  return { symbols: library.symbols, close: () => library.close() };
}

/** Opens the symbols that close connections from outside; the caller closes them. */
export function openLimitLibc(): LimitLibc {
  const library = openLibrary(() => Deno.dlopen(LIBRARY, signaturesOf("limit")));
  return { symbols: library.symbols, close: () => library.close() };
}

/** Opens the symbols for many datagrams at once; the caller closes them. */
export function openDatagramLibc(): DatagramLibc {
  const library = openLibrary(() => Deno.dlopen(LIBRARY, signaturesOf("datagram")));
  return { symbols: library.symbols, close: () => library.close() };
}

let forSockets: SocketLibc | undefined;

/** Opens the symbols for sockets, once for the process. */
export function openSocketLibc(): SocketLibc {
  return forSockets ??= withErrno(openLibrary(() => Deno.dlopen(LIBRARY, signaturesOf("socket"))).symbols);
}

/** Opens the symbols for posix_spawn(3). */
export function openSpawnLibc(): SpawnLibc {
  return openLibrary(() => Deno.dlopen(LIBRARY, signaturesOf("spawn")));
}

/** Opens the symbols for adopting and reaping orphans. */
export function openChildLibc(): ChildLibc {
  return withErrno(openLibrary(() => Deno.dlopen(LIBRARY, signaturesOf("child"))).symbols);
}

const LIBRARY = "libc.so.6";

function openLibrary<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw new SystemError(`${LIBRARY}: ${error instanceof Error ? error.message : String(error)}`, ENOSYS);
  }
}

function withErrno<T extends { __errno_location(): Deno.PointerValue }>(symbols: T) {
  function errno(): number {
    const place = symbols.__errno_location();
    return place === null ? 0 : new Deno.UnsafePointerView(place).getInt32();
  }
  function check(call: string, result: number | bigint): number {
    if (result < 0) throw new SystemError(call, errno());
    return Number(result);
  }
  return { symbols, check, errno };
}

/** A NUL-terminated text. */
export function cText(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`);
}
