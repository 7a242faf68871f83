/** Resident memory that the program does not use. */
import { type KernelCalls, kernelCalls } from "./kernel_calls.ts";
import { openTrimLibc } from "./libc.ts";

const DONTNEED = 4;

/** A mapping of a file in proc_pid_smaps(5): start, end, permissions, file, modified bytes. */
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) .*? (\/\S.*)\n(?:(?![0-9a-f]+-).*\n)*?Anonymous: +(\d+) kB$/gm;

/** Libraries that the program is linked with: they are never unmapped. */
const LIBRARIES = /\/lib[cm]\.so\.6$/;

/** Start and size of a mapping. */
type Mapping = readonly [start: bigint, size: bigint];

/**
 * Returns a function that drops the unmodified pages of the program's file and of the C library, and the free pages of the C
 * library's heap, also after permissions are given up. Most pages of the file are needed only at the start. The kernel keeps them in its
 * cache and maps them again on access, one by one. Throws where there is no /proc, and `SystemError`; so does the returned function.
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

/** Source: include/uapi/linux/userfaultfd.h. */
const FAULTS = { api: 0xc018aa3f, register: 0xc020aa00, version: 0xaan, asynchronous: 1n << 15n, writes: 2n };

/**
 * One userfaultfd for the process, because a mapping belongs to one. It stays open: when it closes, the kernel
 * unregisters the mappings.
 */
let faults: number | undefined;

/**
 * Returns a function that makes the kernel map single pages on access, not the 64 KB around them: an idle agent uses 3
 * MB of its text, spread over 16 MB of such pieces. The kernel maps single pages where writes are watched (mm/memory.c,
 * `should_fault_around`). Nothing writes to these mappings, so nothing else changes. Before Linux 6.7, and where a
 * seccomp profile denies userfaultfd(2), mappings stay as they are.
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
        // This mapping keeps the 64 KB.
      }
    };
  } catch {
    // The kernel or a seccomp profile denies it.
    return () => {};
  }
}

/** Throws `SystemError` if the kernel cannot watch writes to files. */
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
