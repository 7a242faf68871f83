/** Recognizes errors caused by a machine or container that lacks a resource, not by a defect of this program. */
import { messageOf } from "./errors.ts";

/** The missing resource and advice, by the kernel's error number. */
const EXHAUSTED: readonly (readonly [number: number, what: string, hint: string])[] = [
  [24, "this process has too many open files", "raise the limit of open files (ulimit -n)"],
  [23, "this machine has too many open files", "close programs, or raise fs.file-max of the node"],
  [
    11,
    "the system cannot start another process or thread",
    "raise the process limit of this user or container (ulimit -u, pids.max)",
  ],
  [12, "there is not enough memory", "raise the memory limit of this container"],
  [105, "the kernel has no memory left for the network", "raise the memory limit of this container"],
  [28, "the disk is full", "free some space, or choose a folder on another disk"],
];

/** Returns the missing resource that caused an error, and advice; `undefined` for other errors. */
export function exhaustion(error: unknown): { readonly reason: string; readonly hint: string } | undefined {
  const number = numberOf(error);
  const found = EXHAUSTED.find(([known]) => known === number);
  return found === undefined ? undefined : { reason: found[1], hint: found[2] };
}

/** Returns the error number: from `errno` of a `SystemError`, or from the text of a runtime error. */
function numberOf(error: unknown): number {
  if (error instanceof Error && "errno" in error) return Number(error.errno);
  return Number(/ \(os error (\d+)\)/.exec(messageOf(error))?.[1]);
}
