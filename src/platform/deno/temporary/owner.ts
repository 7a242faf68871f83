/** Names of temporary files and folders. Each name contains the process that owns the file or folder. */
import { processStatus } from "../../linux/process_status.ts";

export interface Owner {
  /** The PID namespace (pid_namespaces(7)). */
  readonly space: string;
  readonly pid: number;
  /** The start time, which distinguishes later processes with the same PID. */
  readonly start: string;
}

const PREFIX = "kubectl-mesh-";
const NAME = /^kubectl-mesh-([0-9a-z]+)-([0-9]+)-([0-9a-z]+)-[0-9a-z]+$/i;

/** Returns the prefix of a name that the owner creates. The rest of the name is random. */
export function prefixOf({ space, pid, start }: Owner): string {
  return `${PREFIX}${space}-${pid}-${start}-`;
}

/** Returns the owner in a name; `undefined` if this program did not create the name. */
export function ownerOf(name: string): Owner | undefined {
  const [, space, pid, start] = NAME.exec(name) ?? [];
  return space === undefined || start === undefined ? undefined : { space, pid: Number(pid), start };
}

/** Returns this process as an owner; `undefined` without `/proc`: on other systems, and after giving up a permission. */
export function thisOwner(): Owner | undefined {
  try {
    const namespace = /\d+/.exec(Deno.readLinkSync("/proc/self/ns/pid"))?.[0];
    const status = processStatus(Deno.pid);
    if (namespace === undefined || status === undefined) return undefined;
    return { space: BigInt(namespace).toString(36), pid: Deno.pid, start: status.start.toString(36) };
  } catch {
    // This is not Linux, or /proc is not readable.
    return undefined;
  }
}

/** Whether the owner has exited, as seen from `self`'s PID namespace; `false` if unknown. */
export function hasEnded(owner: Owner, self: Owner): boolean {
  if (owner.space !== self.space) return false;
  try {
    const status = processStatus(owner.pid);
    return status === undefined || status.isEnded || status.start.toString(36) !== owner.start;
  } catch {
    // Access to the process is denied, so it may still run.
    return false;
  }
}
