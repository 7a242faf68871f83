/** Checks the limit on open files. Without a free file descriptor, Envoy neither serves nor reports an error. */
import { maxOpenFiles } from "../platform/open_files.ts";
import type { World } from "../platform/world.ts";

/** The usual limit on Linux. */
const USUAL = 1024;

/** Returns a warning; `undefined` if the limit is high enough or unknown. */
export async function openFilesWarning(world: Pick<World, "files">): Promise<string | undefined> {
  const limit = await maxOpenFiles(world);
  if (limit === undefined || limit >= USUAL) return undefined;
  return `The limit of open files is ${limit}, for this process and for Envoy separately: every connection needs a file ` +
    "descriptor, and without a free one Envoy does not respond; raise the limit (ulimit -n)";
}
