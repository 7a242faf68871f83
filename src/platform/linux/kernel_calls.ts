/** System calls by number (syscall(2)), because each symbol of the C library adds a quarter of a millisecond to the start. */
import { cText, openKernelLibc } from "./libc.ts";

/**
 * The numbers of the calls; `open` is openat(2), which every machine has. Source:
 * arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux.
 */
export const CALL_NUMBERS = {
  x86_64: {
    ...{ socket: 41, write: 1, read: 0, close: 3, open: 257, setns: 308, chdir: 80, chroot: 161, bind: 49 },
    ...{ madvise: 28, ioctl: 16, userfaultfd: 323 },
  },
  aarch64: {
    ...{ socket: 198, write: 64, read: 63, close: 57, open: 56, setns: 268, chdir: 49, chroot: 51, bind: 200 },
    ...{ madvise: 233, ioctl: 29, userfaultfd: 282 },
  },
} as const;

type Call = keyof typeof CALL_NUMBERS.x86_64;

/** System calls, which throw `SystemError`. Files and sockets are file descriptors that child processes do not inherit. */
export interface KernelCalls {
  socket(domain: number, type: number, protocol: number): number;
  write(file: number, bytes: Uint8Array<ArrayBuffer>): void;
  /** Returns the number of bytes read. */
  read(file: number, buffer: Uint8Array<ArrayBuffer>): number;
  bind(file: number, address: Uint8Array<ArrayBuffer>): void;
  /** Opens a file for reading. */
  open(path: string): number;
  close(file: number): void;
  setns(file: number, kind: number): void;
  /** chdir(2). */
  enterFolder(path: string): void;
  /** chroot(2). */
  enterRoot(path: string): void;
  /** madvise(2). */
  advise(address: bigint, size: bigint, advice: number): void;
  /** userfaultfd(2) for user-space faults only, which needs no privilege. */
  openFaults(): number;
  /**
   * Returns a function that calls ioctl(2) with a structure of 64-bit numbers. The function also works after giving up
   * permissions.
   */
  control(file: number, request: number, numbers: BigInt64Array<ArrayBuffer>): () => void;
}

let opened: KernelCalls | undefined;

/** Returns the system calls and opens the C library once. Throws `SystemError` if the C library is missing. */
export function kernelCalls(): KernelCalls {
  return opened ??= openCalls();
}

const CLOEXEC = 0o2000000;
const UFFD_USER_MODE_ONLY = 1;
/** Resolves relative paths from the working directory (openat(2)). */
const AT_FDCWD = -100;

function openCalls(): KernelCalls {
  const { symbols, check } = openKernelLibc();
  const numbers = CALL_NUMBERS[Deno.build.arch];
  const call = (name: Call, first: number | bigint, second: number | bigint = 0, third: number | bigint = 0) =>
    check(name, symbols.syscall(BigInt(numbers[name]), BigInt(first), BigInt(second), BigInt(third), 0n));
  const callWith = (name: Call, first: number, bytes: Uint8Array<ArrayBuffer>, third: number) =>
    check(name, symbols.syscallWithBytes(BigInt(numbers[name]), BigInt(first), bytes, BigInt(third), 0n));
  const callWithPath = (name: Call, path: string) => {
    // The object keeps the text alive during the call.
    const text = { bytes: cText(path) };
    const result = call(name, addressOf(text.bytes));
    return { ...text, result };
  };
  return {
    socket: (domain, type, protocol) => call("socket", domain, type | CLOEXEC, protocol),
    write: (file, bytes) => void callWith("write", file, bytes, bytes.length),
    read: (file, buffer) => callWith("read", file, buffer, buffer.length),
    bind: (file, address) => void callWith("bind", file, address, address.length),
    open: (path) => callWith("open", AT_FDCWD, cText(path), CLOEXEC),
    close: (file) => void call("close", file),
    setns: (file, kind) => void call("setns", file, kind),
    enterFolder: (path) => void callWithPath("chdir", path),
    enterRoot: (path) => void callWithPath("chroot", path),
    advise: (address, size, advice) => void call("madvise", address, size, advice),
    openFaults: () => call("userfaultfd", CLOEXEC | UFFD_USER_MODE_ONLY),
    control(file, request, numbers) {
      // The object keeps the numbers alive during the call.
      const structure = { numbers, address: addressOf(numbers) };
      return () => void call("ioctl", file, request, structure.address);
    },
  };
}

/** Returns the memory address of an array. The caller must keep a reference to the array until the system call returns. */
function addressOf(array: BigInt64Array<ArrayBuffer> | Uint8Array<ArrayBuffer>): bigint {
  return BigInt(Deno.UnsafePointer.value(Deno.UnsafePointer.of(array)));
}
