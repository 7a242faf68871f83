/** A cgroup with a memory limit, for a process of a test. */

interface Kind {
  readonly folder: string;
  readonly limit: string;
  readonly peak: string;
}

/** Cgroup v1, or v2 if the root delegates the memory controller. */
const KINDS: readonly Kind[] = [
  { folder: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes", peak: "memory.max_usage_in_bytes" },
  { folder: "/sys/fs/cgroup", limit: "memory.max", peak: "memory.peak" },
];

/** A new cgroup. */
export interface MemoryCgroup {
  /** Peak memory of its processes, in MB, with the kernel's share. */
  peakMegabytes(): Promise<number>;
  /** Call this when the processes have ended. */
  remove(): Promise<void>;
}

/** Puts a process into a new cgroup with this limit; `undefined` where the cgroup cannot be created. */
export async function limitMemory(pid: number, bytes: number): Promise<MemoryCgroup | undefined> {
  for (const { folder, limit, peak } of KINDS) {
    const own = `${folder}/mesh-test-${pid}`;
    try {
      await Deno.mkdir(own);
      await Deno.writeTextFile(`${own}/${limit}`, String(bytes));
      await Deno.writeTextFile(`${own}/cgroup.procs`, String(pid));
      const peakMegabytes = async () => Number(await Deno.readTextFile(`${own}/${peak}`)) / 1024 / 1024;
      return { peakMegabytes, remove: () => Deno.remove(own) };
    } catch {
      // The other version of cgroups, no root, or a container that may not create cgroups.
      await Deno.remove(own).catch(() => {});
    }
  }
  return undefined;
}
