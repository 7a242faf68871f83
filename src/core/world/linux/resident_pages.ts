/** Resident memory that the program does not use. */
import { kernelCalls } from "./kernel_calls.ts";
import { withTrimLibc } from "./libc.ts";

const DONTNEED = 4;

/** A mapping of a file in proc_pid_smaps(5): start, end, permissions, file, modified bytes. */
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) .*? (\/\S.*)\n(?:(?![0-9a-f]+-).*\n)*?Anonymous: +(\d+) kB$/gm;

/**
 * Drops the unmodified pages of the program's file and the free pages of the C library's heap from this process. Most pages of the
 * file were needed to start only. The kernel keeps them in its cache and maps them again on access. Throws where there is no /proc,
 * and `SystemError`.
 */
export function releaseMemory(): void {
  const path = Deno.execPath();
  const kernel = kernelCalls();
  const mappings = Deno.readTextFileSync("/proc/self/smaps").matchAll(MAPPING);
  for (const [, from = "", to = "", allowed = "", file, changed] of mappings) {
    if (file !== path || allowed.includes("w") || changed !== "0") continue;
    kernel.advise(BigInt(`0x${from}`), BigInt(`0x${to}`) - BigInt(`0x${from}`), DONTNEED);
  }
  withTrimLibc(({ malloc_trim }) => malloc_trim(0n));
}
