/** Memory that the program's own file takes in this process. */
import { kernelCalls } from "./kernel_calls.ts";

const DONTNEED = 4;

/**
 * A mapping of a file, as in proc_pid_smaps(5): from where to where, what it allows, the file, and how much of it is no
 * longer the file's.
 */
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) .*? (\/\S.*)\n(?:(?![0-9a-f]+-).*\n)*?Anonymous: +(\d+) kB$/gm;

/**
 * Takes those pages of the program's file out of this process that nobody has written to: most were only needed to start.
 * They stay in the kernel's cache, from which each that is used again comes back by itself. Throws where the system does
 * not tell the mappings, and `SystemError` for what the kernel refuses.
 */
export function leaveProgramFile(): void {
  const path = Deno.execPath();
  const kernel = kernelCalls();
  const mappings = Deno.readTextFileSync("/proc/self/smaps").matchAll(MAPPING);
  for (const [, from = "", to = "", allowed = "", file, changed] of mappings) {
    if (file !== path || allowed.includes("w") || changed !== "0") continue;
    kernel.advise(BigInt(`0x${from}`), BigInt(`0x${to}`) - BigInt(`0x${from}`), DONTNEED);
  }
}
