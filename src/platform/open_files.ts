import type { World } from "./world.ts";

/**
 * How many file descriptors this process may have; `undefined` if it is not known. It needs Linux and all permissions:
 * otherwise Deno denies /proc. The runtime raises its own limit to the hard one (getrlimit(2)).
 */
export async function maxOpenFiles({ files }: Pick<World, "files">): Promise<number | undefined> {
  const limits = await files.readText("/proc/self/limits").catch(() => "");
  const found = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return found === undefined ? undefined : Number(found);
}
