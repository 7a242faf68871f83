/** Releases resident memory that the program does not use. */
import { type Libc, openLibc } from "./libc.ts";

const FUNCTIONS = {
  madvise: { parameters: ["usize", "usize", "i32"], result: "i32" },
  ioctl: { parameters: ["i32", "usize", "buffer"], result: "i32" },
  /** For userfaultfd(2), which the C library lacks. */
  syscall: { parameters: ["isize", "isize"], result: "isize" },
  malloc_trim: { parameters: ["usize"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
} as const;

let opened: Libc<typeof FUNCTIONS> | undefined;

const DONTNEED = 4;

/** Matches a file mapping in proc_pid_smaps(5): start, end, permissions, file, modified kilobytes. */
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) .*? (\/\S.*)\n(?:(?![0-9a-f]+-).*\n)*?Anonymous: +(\d+) kB$/gm;

/** Matches the libraries that the program is linked with, which are never unmapped. */
const LIBRARIES = /\/lib[cm]\.so\.6$/;

/** Start and size of a mapping. */
type Mapping = readonly [start: bigint, size: bigint];

/**
 * Returns a function that drops the unmodified pages of the program file and of the C library, and the free pages of
 * the C library's heap. The function also works after giving up permissions. The program needs most pages only at the
 * start. The kernel keeps these pages in its page cache and maps them again on access. Both functions throw
 * `SystemError`, or Deno's error if /proc cannot be read.
 */
export function memoryReleaser(): () => void {
  const path = Deno.execPath();
  const libc = opened ??= openLibc(FUNCTIONS);
  const ours = [...Deno.readTextFileSync("/proc/self/smaps").matchAll(MAPPING)]
    .filter(([, , , allowed = "", file = "", changed]) =>
      (file === path || LIBRARIES.test(file)) && !allowed.includes("w") && changed === "0"
    )
    .map(([, from, to]): Mapping => [BigInt(`0x${from}`), BigInt(`0x${to}`) - BigInt(`0x${from}`)]);
  return () => {
    mapSinglePages(libc, ours);
    for (const [start, size] of ours) libc.check("madvise", libc.symbols.madvise(start, size, DONTNEED));
    libc.symbols.malloc_trim(0n);
  };
}

/** The number of userfaultfd(2). Source: syscall_64.tbl and asm-generic/unistd.h of Linux. */
const USERFAULTFD = { x86_64: 323n, aarch64: 282n } as const;
const CLOEXEC = 0o2000000;
/** UFFD_USER_MODE_ONLY: handles no faults in kernel mode, which would need a privilege. */
const USER_MODE_ONLY = 1;
/** Constants of userfaultfd(2). Source: include/uapi/linux/userfaultfd.h. */
const FAULTS = { api: 0xc018aa3fn, register: 0xc020aa00n, version: 0xaan, asynchronous: 1n << 15n, writes: 2n };

/**
 * The only userfaultfd of the process, because a mapping can be registered with only one userfaultfd. The descriptor
 * stays open: on close, the kernel unregisters the mappings.
 */
let faults: number | undefined;

/**
 * Makes the kernel map single pages on access instead of 64 KB blocks. An idle agent uses 3 MB of its program text, spread
 * over 16 MB of such blocks. The kernel maps single pages where writes are watched (mm/memory.c, `should_fault_around`). The
 * program never writes to these mappings, so the watch has no other effect. Before Linux 6.7, and where a seccomp profile
 * denies userfaultfd(2), mappings stay as they are.
 */
function mapSinglePages(libc: Libc<typeof FUNCTIONS>, mappings: readonly Mapping[]): void {
  try {
    const file = faults ??= openFaults(libc);
    for (const [start, size] of mappings) {
      libc.check("ioctl", libc.symbols.ioctl(file, FAULTS.register, BigInt64Array.of(start, size, FAULTS.writes, 0n)));
    }
  } catch {
    // The kernel keeps mapping 64 KB blocks here.
  }
}

/** Opens a userfaultfd that watches writes. Throws `SystemError` if the kernel cannot watch writes to files. */
function openFaults({ symbols, check }: Libc<typeof FUNCTIONS>): number {
  const number = USERFAULTFD[Deno.build.arch];
  const file = check("userfaultfd", symbols.syscall(number, BigInt(CLOEXEC | USER_MODE_ONLY)));
  try {
    check("ioctl", symbols.ioctl(file, FAULTS.api, BigInt64Array.of(FAULTS.version, FAULTS.asynchronous, 0n)));
    return file;
  } catch (error) {
    symbols.close(file);
    throw error;
  }
}
