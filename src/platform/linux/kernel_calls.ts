/** System calls by number (syscall(2)): each symbol of the C library would cost a quarter of a millisecond. */
import { cText, openKernelLibc } from "./libc.ts";
import { SystemError } from "../system_calls.ts";

/** The numbers of the calls; `open` is openat(2), which every machine has. Source: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux. */
export const CALL_NUMBERS = {
  x86_64: {
    ...{ socket: 41, write: 1, read: 0, close: 3, open: 257, flock: 73, setns: 308 },
    ...{ pipe2: 293, ppoll: 271, wait4: 61, kill: 62, madvise: 28, ioctl: 16, userfaultfd: 323 },
  },
  aarch64: {
    ...{ socket: 198, write: 64, read: 63, close: 57, open: 56, flock: 32, setns: 268 },
    ...{ pipe2: 59, ppoll: 73, wait4: 260, kill: 129, madvise: 233, ioctl: 29, userfaultfd: 282 },
  },
} as const;

type Call = keyof typeof CALL_NUMBERS.x86_64;

/** Each call throws `SystemError`. Files and sockets are file descriptors, which child processes do not inherit. */
export interface KernelCalls {
  socket(domain: number, type: number, protocol: number): number;
  write(file: number, bytes: Uint8Array<ArrayBuffer>): void;
  /** Returns the number of bytes read. */
  read(file: number, buffer: Uint8Array<ArrayBuffer>): number;
  /** Opens a file for reading. */
  open(path: string): number;
  close(file: number): void;
  flock(file: number, operation: number): void;
  setns(file: number, kind: number): void;
  pipe(): { readonly read: number; readonly write: number };
  /** The indexes of files that can be read or are at their end; none after the timeout or a signal. */
  poll(files: readonly number[], milliseconds: number): readonly number[];
  /** Reaps a child and returns its status (wait(2)); `undefined` while it runs. */
  wait(pid: number): number | undefined;
  kill(pid: number, signal: number): void;
  /** madvise(2). */
  advise(address: bigint, size: bigint, advice: number): void;
  /** userfaultfd(2), for faults outside the kernel: those need no privilege. */
  openFaults(): number;
  /** What calls ioctl(2) with a structure of 64-bit numbers, also when permissions were given up since. */
  control(file: number, request: number, numbers: BigInt64Array<ArrayBuffer>): () => void;
}

let opened: KernelCalls | undefined;

/** The calls; opens the C library once. Throws `SystemError` if there is none. */
export function kernelCalls(): KernelCalls {
  return opened ??= openCalls();
}

const CLOEXEC = 0o2000000;
const WNOHANG = 1;
const UFFD_USER_MODE_ONLY = 1;
/** Relative paths start at the working directory (openat(2)). */
const AT_FDCWD = -100;

function openCalls(): KernelCalls {
  const { symbols, check } = openKernelLibc();
  const numbers = CALL_NUMBERS[Deno.build.arch];
  const call = (name: Call, first: number | bigint, second: number | bigint = 0, third: number | bigint = 0) =>
    check(name, symbols.syscall(BigInt(numbers[name]), BigInt(first), BigInt(second), BigInt(third), 0n));
  const callWith = (name: Call, first: number, bytes: Uint8Array<ArrayBuffer>, third: number) =>
    check(name, symbols.syscallWithBytes(BigInt(numbers[name]), BigInt(first), bytes, BigInt(third), 0n));
  return {
    socket: (domain, type, protocol) => call("socket", domain, type | CLOEXEC, protocol),
    write: (file, bytes) => void callWith("write", file, bytes, bytes.length),
    read: (file, buffer) => callWith("read", file, buffer, buffer.length),
    open: (path) => callWith("open", AT_FDCWD, cText(path), CLOEXEC),
    close: (file) => void call("close", file),
    flock: (file, operation) => void call("flock", file, operation),
    setns: (file, kind) => void call("setns", file, kind),
    pipe() {
      const ends = new Int32Array(2);
      call("pipe2", addressOf(ends), CLOEXEC);
      const [read = 0, write = 0] = ends;
      return { read, write };
    },
    poll: (files, milliseconds) =>
      pollWith((asked, time) => call("ppoll", addressOf(asked), files.length, addressOf(time)), files, milliseconds),
    wait(pid) {
      const status = new Uint8Array(4);
      const ended = callWith("wait4", pid, status, WNOHANG);
      return ended === 0 ? undefined : new DataView(status.buffer).getInt32(0, true);
    },
    kill: (pid, signal) => void call("kill", pid, signal),
    advise: (address, size, advice) => void call("madvise", address, size, advice),
    openFaults: () => call("userfaultfd", CLOEXEC | UFFD_USER_MODE_ONLY),
    control(file, request, numbers) {
      // The object keeps the numbers for the call.
      const structure = { numbers, address: addressOf(numbers) };
      return () => void call("ioctl", file, request, structure.address);
    },
  };
}

/** The address of an array; it must stay referenced until the call returns. */
function addressOf(numbers: Int32Array<ArrayBuffer> | BigInt64Array<ArrayBuffer>): bigint {
  return BigInt(Deno.UnsafePointer.value(Deno.UnsafePointer.of(numbers)));
}

const POLLIN = 1;
const EINTR = 4;

/** A list of `struct pollfd` and a `struct timespec` (ppoll(2)). */
function pollWith(
  ask: (asked: Int32Array<ArrayBuffer>, time: BigInt64Array<ArrayBuffer>) => number,
  files: readonly number[],
  milliseconds: number,
): readonly number[] {
  const asked = Int32Array.from(files.flatMap((file) => [file, POLLIN]));
  const nanoseconds = BigInt(Math.ceil(milliseconds * 1e6));
  const time = BigInt64Array.of(nanoseconds / 1_000_000_000n, nanoseconds % 1_000_000_000n);
  try {
    ask(asked, time);
  } catch (error) {
    if (error instanceof SystemError && error.errno === EINTR) return [];
    throw error;
  }
  return files.flatMap((_, at) => (asked[2 * at + 1] ?? 0) >> 16 === 0 ? [] : [at]);
}
