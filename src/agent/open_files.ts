/** The limit of open files at the start: Envoy without a free one neither serves nor says why. */
import type { World } from "../platform/world.ts";

/** What Linux gives a process that nobody limits. The runtime raises its own limit to the hard one (getrlimit(2)). */
const USUAL = 1024;

/** A warning if fewer files than usual may be open; `undefined` if enough, or if /proc does not tell. */
export async function openFilesWarning({ files }: Pick<World, "files">): Promise<string | undefined> {
  const limits = await files.readText("/proc/self/limits").catch(() => "");
  const most = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  if (most === undefined || Number(most) >= USUAL) return undefined;
  return `Only ${most} files may be open at once, for this process and for Envoy each: every connection needs one, and ` +
    "without a free one Envoy does not answer; raise the limit of open files (ulimit -n)";
}
