/** The state of a process in proc(5). */

/** The state of a process. */
export interface ProcessStatus {
  /** It has ended, reaped or not. */
  readonly isEnded: boolean;
  /** The start time since the boot, which differs for a later process with the same id. */
  readonly start: bigint;
  /** The ignored signals 1 to 31, one bit each; signal 1 is the lowest. */
  readonly ignored: bigint;
}

/**
 * The state of a process; `undefined` if it is not there. Throws Deno's error if `/proc` cannot be read, as by a process that
 * has given up a permission. Source: proc_pid_stat(5), fields 3, 22 and 33.
 */
export function processStatus(pid: number): ProcessStatus | undefined {
  const text = statOf(pid);
  if (text === undefined) return undefined;
  // The name of the program may have blanks and parentheses.
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
