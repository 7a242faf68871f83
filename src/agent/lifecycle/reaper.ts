import { linesOf } from "../../base/text/mod.ts";
import type { World } from "../../platform/world.ts";

const LOOK_INTERVAL = 300;
/**
 * Number of times a zombie must be seen before the reaper reaps it. Until then, whoever called posix_spawn(3) can wait
 * for the child.
 */
const SIGHTINGS = 3;

/**
 * Adopts orphans, as PID 1 does, and reaps them. Does not reap children that this process waits for, so their exit
 * codes remain available. Any other process that is seen as a zombie three times, within 600 ms, counts as an orphan.
 * Ignores refused system calls. Returns a function that stops the reaper.
 */
export function startReaper(world: World): () => void {
  const attempt = <T>(call: () => T): T | undefined => {
    try {
      return call();
    } catch {
      // The operating system lacks this call, or this process may not make it.
      return undefined;
    }
  };
  attempt(() => world.system.adoptOrphans());
  const stopped = new AbortController();
  let looking = false;
  const lookUntilClean = async () => {
    if (looking) return;
    looking = true;
    let seen: ReadonlyMap<string, number> = new Map();
    while (!stopped.signal.aborted && attempt(() => world.system.hasEndedChild()) === true) {
      seen = await look(world, seen, (pid) => void attempt(() => world.system.reap(pid)));
      await world.clock.sleep(LOOK_INTERVAL, stopped.signal);
    }
    looking = false;
  };
  const forget = world.signals.on("SIGCHLD", lookUntilClean);
  lookUntilClean();
  return () => {
    forget();
    stopped.abort();
  };
}

/** Reaps orphans. Returns the remaining zombies, with the number of times that each has been seen. */
async function look(
  world: World,
  seen: ReadonlyMap<string, number>,
  reap: (pid: number) => void,
): Promise<ReadonlyMap<string, number>> {
  const now = new Map<string, number>();
  for (const { pid, identity } of await endedChildren(world)) {
    const sightings = (seen.get(identity) ?? 0) + 1;
    if (world.processes.isAwaited(pid)) continue;
    if (sightings >= SIGHTINGS) reap(pid);
    else now.set(identity, sightings);
  }
  return now;
}

/** `identity` includes the start time, because PIDs are reused. */
interface EndedChild {
  readonly pid: number;
  readonly identity: string;
}

async function endedChildren(world: World): Promise<readonly EndedChild[]> {
  const entries = await world.files.list("/proc").catch(() => []);
  const found: EndedChild[] = [];
  for (const { name } of entries) {
    if (!/^\d+$/.test(name)) continue;
    const fields = await statOf(world, name);
    const [state, parent] = fields;
    if (state !== "Z" || parent !== String(world.machine.pid)) continue;
    found.push({ pid: Number(name), identity: `${name} ${fields[START_TIME]}` });
  }
  return found;
}

/** Index of field 22 of proc_pid_stat(5), counted from field 3, the state. */
const START_TIME = 19;

/**
 * Returns the fields after the process name; empty if the process is gone. The name may contain any character, even
 * `)`.
 */
async function statOf(world: World, pid: string): Promise<readonly string[]> {
  try {
    const lines = await Array.fromAsync(linesOf(world.files.chunks(`/proc/${pid}/stat`)));
    const text = lines.join("\n");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    // The process has ended in the meantime.
    return [];
  }
}
