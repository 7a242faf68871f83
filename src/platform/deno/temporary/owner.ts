/** The process that a temporary file or folder belongs to, in its name. */
import { processStatus } from "../../linux/process_status.ts";

/** A process of this machine. */
export interface Owner {
  /** The namespace of its process id (pid_namespaces(7)); `0` where there is none. */
  readonly space: string;
  readonly pid: number;
  /** The start time, which differs for a later process with the same id. `0` if unknown. */
  readonly start: string;
}

const PREFIX = "kubectl-mesh-";
const NAME = /^kubectl-mesh-([0-9a-z]+)-([0-9]+)-([0-9a-z]+)-[0-9a-z]+$/i;

/** The start of a name that belongs to this process. The rest of it is random. */
export function prefixOf({ space, pid, start }: Owner): string {
  return `${PREFIX}${space}-${pid}-${start}-`;
}

/** The process that a name belongs to; `undefined` if the name is not one of this program's. */
export function ownerOf(name: string): Owner | undefined {
  const [, space, pid, start] = NAME.exec(name) ?? [];
  return space === undefined || start === undefined ? undefined : { space, pid: Number(pid), start };
}

/** This process; `undefined` if it may not read `/proc`, as after it gave up a permission. */
export function thisOwner(): Owner | undefined {
  if (Deno.build.os !== "linux") return { space: "0", pid: Deno.pid, start: "0" };
  try {
    const namespace = /\d+/.exec(Deno.readLinkSync("/proc/self/ns/pid"))?.[0];
    const status = processStatus(Deno.pid);
    if (namespace === undefined || status === undefined) return undefined;
    return { space: BigInt(namespace).toString(36), pid: Deno.pid, start: status.start.toString(36) };
  } catch {
    // There is no /proc, or it may not be read.
    return undefined;
  }
}

/** Whether the process of a name has ended, as `self` sees it; `false` if that is not known. */
export function hasEnded(owner: Owner, self: Owner): boolean {
  if (owner.space !== self.space) return false;
  try {
    if (Deno.build.os !== "linux") return isGone(owner.pid);
    const status = processStatus(owner.pid);
    return status === undefined || status.isEnded || status.start.toString(36) !== owner.start;
  } catch {
    // Access to the process is denied: it may still run.
    return false;
  }
}

/** kill(2) without a signal. */
function isGone(pid: number): boolean {
  try {
    globalThis.process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}
