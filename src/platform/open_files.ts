import type { World } from "./world.ts";

/**
 * Returns the maximum number of open files of this process; `undefined` if unknown. Needs Linux and all permissions, because
 * Deno otherwise denies /proc. The runtime raises its soft limit to the hard limit (getrlimit(2)).
 */
export async function maxOpenFiles({ files }: Pick<World, "files">): Promise<number | undefined> {
  const limits = await files.readText("/proc/self/limits").catch(() => "");
  const found = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return found === undefined ? undefined : Number(found);
}
