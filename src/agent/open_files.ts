/** Envoy without a free file descriptor neither serves nor reports it. */
import { maxOpenFiles } from "../platform/open_files.ts";
import type { World } from "../platform/world.ts";

/** The limit of Linux. */
const USUAL = 1024;

/** `undefined` if there are enough, or if the limit is unknown. */
export async function openFilesWarning(world: Pick<World, "files">): Promise<string | undefined> {
  const limit = await maxOpenFiles(world);
  if (limit === undefined || limit >= USUAL) return undefined;
  return `Only ${limit} files may be open at once, for this process and for Envoy each: every connection needs one, and ` +
    "without a free one Envoy does not answer; raise the limit of open files (ulimit -n)";
}
