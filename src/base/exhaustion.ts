/** Errors of a machine or container that lacks a resource; not defects of this program. */
import { messageOf } from "./errors.ts";

/** The missing resource by the kernel's error number, and what to do. */
const EXHAUSTED: readonly (readonly [number: number, what: string, hint: string])[] = [
  [24, "this process has too many open files", "raise its limit of open files (ulimit -n)"],
  [23, "this machine has too many open files", "close programs, or raise fs.file-max of the node"],
  [
    11,
    "no further process or thread can be started",
    "raise the limit of processes of this user or container (ulimit -u, pids.max)",
  ],
  [12, "there is no memory left", "raise the memory limit of this container"],
  [105, "the kernel has no memory left for the network", "raise the memory limit of this container"],
  [28, "there is no space left on the disk", "make space, or name a folder on another disk"],
];

/** The resource whose lack caused an error, and what to do; `undefined` for other errors. */
export function exhaustion(error: unknown): { readonly reason: string; readonly hint: string } | undefined {
  const number = numberOf(error);
  const found = EXHAUSTED.find(([known]) => known === number);
  return found === undefined ? undefined : { reason: found[1], hint: found[2] };
}

/** The error number: `errno` of a `SystemError`; in the text of a runtime error. */
function numberOf(error: unknown): number {
  if (error instanceof Error && "errno" in error) return Number(error.errno);
  return Number(/ \(os error (\d+)\)/.exec(messageOf(error))?.[1]);
}
