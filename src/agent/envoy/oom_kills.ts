import type { World } from "../../platform/world.ts";

const ROOT = "/sys/fs/cgroup";
/** Matches `oom_kill N` in memory.events (cgroup v2) and memory.oom_control (v1). */
const KILLS = /^oom_kill (\d+)$/m;

/**
 * Counts the processes in this container that the kernel killed for lack of memory; 0 if unknown. Source: Linux,
 * Documentation/admin-guide/cgroup-v2.rst (memory.events), cgroup-v1/memory.rst (memory.oom_control).
 */
export async function outOfMemoryKills(world: World): Promise<number> {
  for (const file of candidates(await textOrNone(world, "/proc/self/cgroup"))) {
    const kills = KILLS.exec(await textOrNone(world, file))?.[1];
    if (kills !== undefined) return Number(kills);
  }
  return 0;
}

/**
 * Returns paths to try. In a container, /proc may show the host's path, although the mount begins at the container's
 * cgroup.
 */
function candidates(groups: string): readonly string[] {
  return groups.split("\n").flatMap((line) => {
    const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const own = path === "/" ? "" : path;
    if (controllers.split(",").includes("memory")) {
      return [own, ""].map((each) => `${ROOT}/memory${each}/memory.oom_control`);
    }
    return controllers === "" && path !== "" ? [own, ""].map((each) => `${ROOT}${each}/memory.events`) : [];
  });
}

async function textOrNone(world: World, path: string): Promise<string> {
  try {
    return await world.files.readText(path, 1 << 16);
  } catch {
    // The file does not exist, or is not readable.
    return "";
  }
}
