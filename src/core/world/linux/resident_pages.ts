/** Resident memory that the program does not use. */
import { kernelCalls } from "./kernel_calls.ts";
import { openTrimLibc } from "./libc.ts";

const DONTNEED = 4;

/** A mapping of a file in proc_pid_smaps(5): start, end, permissions, file, modified bytes. */
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) .*? (\/\S.*)\n(?:(?![0-9a-f]+-).*\n)*?Anonymous: +(\d+) kB$/gm;

/**
 * What drops the unmodified pages of the program's file and the free pages of the C library's heap from this process, also when
 * permissions were given up since. Most pages of the file were needed to start only. The kernel keeps them in its cache and maps them
 * again on access. Throws where there is no /proc, and `SystemError`, as does what is returned.
 */
export function memoryReleaser(): () => void {
  const path = Deno.execPath();
  const kernel = kernelCalls();
  const { malloc_trim } = openTrimLibc();
  const ours = [...Deno.readTextFileSync("/proc/self/smaps").matchAll(MAPPING)]
    .filter(([, , , allowed = "", file, changed]) => file === path && !allowed.includes("w") && changed === "0")
    .map(([, from, to]) => [BigInt(`0x${from}`), BigInt(`0x${to}`)] as const);
  return () => {
    for (const [from, to] of ours) kernel.advise(from, to - from, DONTNEED);
    malloc_trim(0n);
  };
}

/** The same at once. */
export function releaseMemory(): void {
  memoryReleaser()();
}
