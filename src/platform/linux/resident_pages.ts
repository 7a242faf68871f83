/** Releases resident memory that the program does not use. */
import { type KernelCalls, kernelCalls } from "./kernel_calls.ts";
import { openTrimLibc } from "./libc.ts";

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
 * start. The kernel keeps them in its page cache and maps them again on access. This function and the returned one
 * throw `SystemError`, or Deno's error if /proc cannot be read.
 */
export function memoryReleaser(): () => void {
  const path = Deno.execPath();
  const kernel = kernelCalls();
  const { malloc_trim } = openTrimLibc();
  const ours = [...Deno.readTextFileSync("/proc/self/smaps").matchAll(MAPPING)]
    .filter(([, , , allowed = "", file = "", changed]) =>
      (file === path || LIBRARIES.test(file)) && !allowed.includes("w") && changed === "0"
    )
    .map(([, from, to]): Mapping => [BigInt(`0x${from}`), BigInt(`0x${to}`) - BigInt(`0x${from}`)]);
  const mapSingly = singlePages(kernel, ours);
  return () => {
    mapSingly();
    for (const [start, size] of ours) kernel.advise(start, size, DONTNEED);
    malloc_trim(0n);
  };
}

/** Constants of userfaultfd(2). Source: include/uapi/linux/userfaultfd.h. */
const FAULTS = { api: 0xc018aa3f, register: 0xc020aa00, version: 0xaan, asynchronous: 1n << 15n, writes: 2n };

/**
 * The only userfaultfd of the process, because a mapping can be registered with only one. It stays open: on close, the kernel
 * unregisters the mappings.
 */
let faults: number | undefined;

/**
 * Returns a function that makes the kernel map single pages on access instead of 64 KB blocks. An idle agent uses 3 MB
 * of its program text, spread over 16 MB of such blocks. The kernel maps single pages where writes are watched
 * (mm/memory.c, `should_fault_around`). The program never writes to these mappings, so the watch has no other effect.
 * Before Linux 6.7, and where a seccomp profile denies userfaultfd(2), mappings stay as they are.
 */
function singlePages(kernel: KernelCalls, mappings: readonly Mapping[]): () => void {
  try {
    const file = faults ??= openFaults(kernel);
    const calls = mappings.map(([start, size]) =>
      kernel.control(file, FAULTS.register, BigInt64Array.of(start, size, FAULTS.writes, 0n))
    );
    return () => {
      try {
        for (const register of calls) register();
      } catch {
        // The kernel keeps mapping 64 KB blocks here.
      }
    };
  } catch {
    // The kernel or a seccomp profile denies userfaultfd(2).
    return () => {};
  }
}

/** Opens a userfaultfd that watches writes. Throws `SystemError` if the kernel cannot watch writes to files. */
function openFaults(kernel: KernelCalls): number {
  const file = kernel.openFaults();
  try {
    kernel.control(file, FAULTS.api, BigInt64Array.of(FAULTS.version, FAULTS.asynchronous, 0n))();
    return file;
  } catch (error) {
    kernel.close(file);
    throw error;
  }
}
