import { linesOf } from "../envoy/lines.ts";
import type { World } from "../../core/world/world.ts";

const LOOK_MILLISECONDS = 300;
/** How often a process must have been seen ended: its own parent in this program has had the time to ask for it. */
const SIGHTINGS = 3;

/** Reaps orphans until it is stopped. */
export interface Reaper {
  stop(): void;
}

/**
 * Makes orphans children of this process, as those of PID 1 are, and reaps them. Children of this program's own are
 * waited for by who started them: only a process that has been seen ended in three looks, 600 ms apart, is taken for an
 * orphan. No list of own children is needed, so that it is safe beside every way to start one. Where a call is refused
 * the returned reaper does less; it never fails.
 */
export function startReaper(world: World): Reaper {
  const attempt = <T>(call: () => T): T | undefined => {
    try {
      return call();
    } catch {
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
      await world.clock.sleep(LOOK_MILLISECONDS, stopped.signal);
    }
    looking = false;
  };
  const forget = world.signals.on("SIGCHLD", lookUntilClean);
  lookUntilClean();
  return {
    stop() {
      forget();
      stopped.abort();
    },
  };
}

/** One look at the ended children: reaps those seen often enough, and returns how often each of the others was seen. */
async function look(
  world: World,
  seen: ReadonlyMap<string, number>,
  reap: (pid: number) => void,
): Promise<ReadonlyMap<string, number>> {
  const now = new Map<string, number>();
  for (const { pid, identity } of await endedChildren(world)) {
    const sightings = (seen.get(identity) ?? 0) + 1;
    if (sightings >= SIGHTINGS) reap(pid);
    else now.set(identity, sightings);
  }
  return now;
}

/** A process by its number and its start: a number is used again. */
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

/** Field 22 of proc_pid_stat(5), counted from the state, which is field 3. */
const START_TIME = 19;

/** The fields of /proc/PID/stat after the name, which may hold anything; none if the process is gone. */
async function statOf(world: World, pid: string): Promise<readonly string[]> {
  try {
    const lines = await Array.fromAsync(linesOf(world.files.chunks(`/proc/${pid}/stat`)));
    const text = lines.join("\n");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}
