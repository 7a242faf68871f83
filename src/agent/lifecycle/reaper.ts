import { linesOf } from "../../base/text/mod.ts";
import type { World } from "../../platform/world.ts";

const LOOK_INTERVAL = 300;
/** A child that posix_spawn(3) started is waited for by its starter. */
const SIGHTINGS = 3;

/**
 * Adopts orphans, as PID 1 does, and reaps them. Children that this process waits for keep their exit code. Any other
 * process seen as a zombie three times, 600 ms in all, is an orphan. The returned function stops it. A refused system
 * call is no error.
 */
export function startReaper(world: World): () => void {
  const attempt = <T>(call: () => T): T | undefined => {
    try {
      return call();
    } catch {
      // Another system, which has no such call, or a call that this process may not make.
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

/** Returns how often the other children were seen. */
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

/** PIDs are reused: the identity has the start time. */
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

/** Field 22 of proc_pid_stat(5), counted from field 3, the state. */
const START_TIME = 19;

/** The fields after the name, which may hold anything; empty if the process is gone. */
async function statOf(world: World, pid: string): Promise<readonly string[]> {
  try {
    const lines = await Array.fromAsync(linesOf(world.files.chunks(`/proc/${pid}/stat`)));
    const text = lines.join("\n");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    // The process has ended meanwhile.
    return [];
  }
}
