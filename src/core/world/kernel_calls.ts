/**
 * The system calls of most runs, by their numbers (syscall(2)): a symbol of the C library for each of them would cost a
 * quarter of a millisecond of every run.
 */
import { cText, openKernelLibc } from "./libc.ts";

/** The numbers of the calls; `open` is openat(2), which every machine has. Source: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux. */
export const CALL_NUMBERS = {
  x86_64: { socket: 41, write: 1, read: 0, close: 3, open: 257, flock: 73, setns: 308 },
  aarch64: { socket: 198, write: 64, read: 63, close: 57, open: 56, flock: 32, setns: 268 },
} as const;

type Call = keyof typeof CALL_NUMBERS.x86_64;

/** Each call throws `SystemError` for what the kernel refuses. Files and sockets are their numbers. */
export interface KernelCalls {
  /** A program that is started does not get it. */
  socket(domain: number, type: number, protocol: number): number;
  write(file: number, bytes: Uint8Array<ArrayBuffer>): void;
  /** Returns how many bytes of the buffer were filled. */
  read(file: number, buffer: Uint8Array<ArrayBuffer>): number;
  /** Opens a file for reading; a program that is started does not get it. */
  open(path: string): number;
  close(file: number): void;
  flock(file: number, operation: number): void;
  setns(file: number, kind: number): void;
}

let opened: KernelCalls | undefined;

/** The calls; the library is opened once. Throws `SystemError` where there is none. */
export function kernelCalls(): KernelCalls {
  return opened ??= openCalls();
}

const CLOEXEC = 0o2000000;
/** A path that is relative is so to the working directory (openat(2)). */
const AT_FDCWD = -100;

function openCalls(): KernelCalls {
  const { symbols, check } = openKernelLibc();
  const numbers = CALL_NUMBERS[Deno.build.arch];
  const call = (name: Call, first: number, second = 0, third = 0) =>
    check(name, symbols.syscall(BigInt(numbers[name]), BigInt(first), BigInt(second), BigInt(third)));
  const callWith = (name: Call, first: number, bytes: Uint8Array<ArrayBuffer>, third: number) =>
    check(name, symbols.syscallWithBytes(BigInt(numbers[name]), BigInt(first), bytes, BigInt(third)));
  return {
    socket: (domain, type, protocol) => call("socket", domain, type | CLOEXEC, protocol),
    write: (file, bytes) => void callWith("write", file, bytes, bytes.length),
    read: (file, buffer) => callWith("read", file, buffer, buffer.length),
    open: (path) => callWith("open", AT_FDCWD, cText(path), CLOEXEC),
    close: (file) => void call("close", file),
    flock: (file, operation) => void call("flock", file, operation),
    setns: (file, kind) => void call("setns", file, kind),
  };
}
