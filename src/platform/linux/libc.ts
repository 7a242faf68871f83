/**
 * The C library symbols (glibc) that this program calls. Every function that opens symbols throws `SystemError` on a
 * system without glibc.
 */
import { SystemError } from "../system_calls.ts";

// These are functions because a hundred objects would add 0.1 ms to each start.
const calls = () =>
  ({
    socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
    send: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
    recv: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
    close: { parameters: ["i32"], result: "i32" },
    __errno_location: { parameters: [], result: "pointer" },
  }) as const;

/** The number of a system call and its arguments. The second argument may be a buffer. */
const kernelCalls = () =>
  ({
    syscall: { parameters: ["isize", "isize", "isize", "isize", "isize"], result: "isize" },
    syscallWithBytes: { name: "syscall", parameters: ["isize", "isize", "buffer", "isize", "isize"], result: "isize" },
    __errno_location: calls().__errno_location,
  }) as const;

const executeCalls = () =>
  ({
    __errno_location: calls().__errno_location,
    execvp: { parameters: ["buffer", "buffer"], result: "i32" },
    signal: { parameters: ["i32", "usize"], result: "usize" },
  }) as const;

const socketCalls = () =>
  ({
    ...calls(),
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
  }) as const;

const optionCalls = () =>
  ({
    getsockname: socketCalls().getsockname,
    setsockopt: socketCalls().setsockopt,
  }) as const;

const peerCalls = () =>
  ({
    getsockname: socketCalls().getsockname,
    getsockopt: socketCalls().getsockopt,
  }) as const;

const limitCalls = () =>
  ({
    ...peerCalls(),
    shutdown: { parameters: ["i32", "i32"], result: "i32" },
  }) as const;

const datagramCalls = () =>
  ({
    recvmmsg: { parameters: ["i32", "buffer", "u32", "i32", "pointer"], result: "i32" },
    sendmmsg: { parameters: ["i32", "buffer", "u32", "i32"], result: "i32" },
  }) as const;

const trimCalls = () =>
  ({
    malloc_trim: { parameters: ["usize"], result: "i32" },
  }) as const;

const childCalls = () =>
  ({
    ...calls(),
    prctl: { parameters: ["i32", "u64", "u64", "u64", "u64"], result: "i32" },
    waitid: { parameters: ["i32", "u32", "buffer", "i32"], result: "i32" },
    waitpid: { parameters: ["i32", "buffer", "i32"], result: "i32" },
  }) as const;

/** Open symbols; `check` turns a negative result into a `SystemError` with errno. */
interface Opened<Symbols extends Pick<ReturnType<typeof calls>, "__errno_location">> {
  readonly symbols: Deno.StaticForeignLibraryInterface<Symbols>;
  check(call: string, result: number | bigint): number;
  errno(): number;
}

export type KernelLibc = Opened<ReturnType<typeof kernelCalls>>;
export type ExecuteLibc = Opened<ReturnType<typeof executeCalls>>;
export type SocketLibc = Opened<ReturnType<typeof socketCalls>>;
export type OptionLibc = Deno.DynamicLibrary<ReturnType<typeof optionCalls>>;
export type PeerLibc = Pick<Deno.DynamicLibrary<ReturnType<typeof peerCalls>>, "symbols" | "close">;
export type LimitLibc = Pick<Deno.DynamicLibrary<ReturnType<typeof limitCalls>>, "symbols" | "close">;
export type DatagramLibc = Pick<Deno.DynamicLibrary<ReturnType<typeof datagramCalls>>, "symbols" | "close">;
export type ChildLibc = Opened<ReturnType<typeof childCalls>>;

const ENOSYS = 38;

/** Opens the symbols for system calls by number. */
export function openKernelLibc(): KernelLibc {
  return withErrno(openLibrary(() => Deno.dlopen(LIBRARY, kernelCalls())).symbols);
}

/** Opens the symbols for execvp(3), passes them to `use`, and closes them. */
export function withExecuteLibc(use: (libc: ExecuteLibc) => void): void {
  const library = openLibrary(() => Deno.dlopen(LIBRARY, executeCalls()));
  try {
    use(withErrno(library.symbols));
  } finally {
    library.close();
  }
}

/** Opens the symbols for socket options, passes them to `use`, and closes them. */
export function withOptionLibc(use: (symbols: OptionLibc["symbols"]) => void): void {
  const library = openLibrary(() => Deno.dlopen(LIBRARY, optionCalls()));
  try {
    use(library.symbols);
  } finally {
    library.close();
  }
}

let openedTrim: Deno.DynamicLibrary<ReturnType<typeof trimCalls>> | undefined;

/** Opens the symbol for malloc_trim(3), once. */
export function openTrimLibc(): Deno.DynamicLibrary<ReturnType<typeof trimCalls>>["symbols"] {
  return (openedTrim ??= openLibrary(() => Deno.dlopen(LIBRARY, trimCalls()))).symbols;
}

/** Opens the symbols that describe sockets. The caller must close them. */
export function openPeerLibc(): PeerLibc {
  const library = openLibrary(() => Deno.dlopen(LIBRARY, peerCalls()));
  return { symbols: library.symbols, close: () => library.close() };
}

/** Opens libc for the functions that can shut down Deno's sockets. The caller must close the library. */
export function openLimitLibc(): LimitLibc {
  const library = openLibrary(() => Deno.dlopen(LIBRARY, limitCalls()));
  return { symbols: library.symbols, close: () => library.close() };
}

/** Opens the symbols that send and receive several datagrams per call. The caller must close them. */
export function openDatagramLibc(): DatagramLibc {
  const library = openLibrary(() => Deno.dlopen(LIBRARY, datagramCalls()));
  return { symbols: library.symbols, close: () => library.close() };
}

let forSockets: SocketLibc | undefined;

/** Opens the symbols for sockets, once for the process. */
export function openSocketLibc(): SocketLibc {
  return forSockets ??= withErrno(openLibrary(() => Deno.dlopen(LIBRARY, socketCalls())).symbols);
}

/** Opens the symbols for adopting and reaping orphans. */
export function openChildLibc(): ChildLibc {
  return withErrno(openLibrary(() => Deno.dlopen(LIBRARY, childCalls())).symbols);
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

/** Returns the text as NUL-terminated UTF-8. */
export function cText(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`);
}
