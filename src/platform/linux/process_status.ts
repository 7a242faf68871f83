/** The state of a process in proc(5). */

export interface ProcessStatus {
  /** Whether the process has exited, reaped or not. */
  readonly isEnded: boolean;
  /** Start time in clock ticks since boot, which distinguishes later processes with the same PID. */
  readonly start: bigint;
  /** Bit mask of the ignored signals 1 to 31. Signal 1 is the lowest bit. */
  readonly ignored: bigint;
}

/**
 * Returns the state of a process; `undefined` if it does not exist. Throws Deno's error if `/proc` cannot be read, for
 * example in a process that has given up a permission. Source: proc_pid_stat(5), fields 3, 22 and 33.
 */
export function processStatus(pid: number): ProcessStatus | undefined {
  const text = statOf(pid);
  if (text === undefined) return undefined;
  // The program's name may contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state = "", start = "0", ignored = "0"] = [fields[0], fields[19], fields[30]];
  return { isEnded: state === "Z" || state === "X", start: BigInt(start), ignored: BigInt(ignored) };
}

function statOf(pid: number): string | undefined {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/stat`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
