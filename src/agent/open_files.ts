/** The limit of open files at the start: Envoy without a free one neither serves nor says why. */
import { maxOpenFiles } from "../platform/open_files.ts";
import type { World } from "../platform/world.ts";

/** What Linux gives a process that nobody limits. */
const USUAL = 1024;

/** A warning if fewer files than usual may be open; `undefined` if enough, or if the limit is not known. */
export async function openFilesWarning(world: Pick<World, "files">): Promise<string | undefined> {
  const most = await maxOpenFiles(world);
  if (most === undefined || most >= USUAL) return undefined;
  return `Only ${most} files may be open at once, for this process and for Envoy each: every connection needs one, and ` +
    "without a free one Envoy does not answer; raise the limit of open files (ulimit -n)";
}
