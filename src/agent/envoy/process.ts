import { MeshError } from "../../base/errors.ts";
import type { Child, World } from "../../platform/world.ts";
import { linesOf } from "../../base/text/mod.ts";
import { BINARY_HINT } from "./binary.ts";
import { outOfMemoryKills } from "./oom_kills.ts";
import type { EnvoyOptions } from "./options.ts";
import type { EnvoyEnd } from "./end.ts";

export type EnvoySignal = "SIGTERM" | "SIGKILL" | "SIGUSR1";

export type RunningEnvoy = ReturnType<typeof startEnvoy>;

/** Starts Envoy. Throws `MeshError` if the program is absent or not executable. */
export function startEnvoy(world: World, options: EnvoyOptions, args: readonly string[]) {
  const killsBefore = outOfMemoryKills(world);
  const child = spawn(world, options, args);
  const forwarded = forwardLines(world, child, options.errorLine);
  let killed = false;
  return {
    pid: child.pid,
    /** Resolves after Envoy has been reaped and its last log lines have been passed on. */
    ended: endOf(),
    signal(name: EnvoySignal): void {
      killed ||= name === "SIGKILL";
      child.signal(name);
    },
  };

  async function endOf(): Promise<EnvoyEnd> {
    const end = await child.ended;
    await forwarded(LAST_LINES_MILLISECONDS);
    const unasked = end.signal === "SIGKILL" && !killed;
    return { ...end, outOfMemory: unasked && await outOfMemoryKills(world) > await killsBefore };
  }
}

/** Maximum wait for the last log lines: a process that Envoy left behind may keep stderr open. */
const LAST_LINES_MILLISECONDS = 500;

function spawn(world: World, options: EnvoyOptions, args: readonly string[]): Child {
  const { binary, env, errorLine } = options;
  try {
    const errorOutput = errorLine === undefined ? "inherit" : "piped";
    return world.processes.spawn({ command: binary, args, errorOutput, env });
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    throw new MeshError(error.message, {
      cause: error,
      hint: error.hint ?? BINARY_HINT,
    });
  }
}

/** Passes on the lines of Envoy's stderr. Returns a function that waits for the last line. */
function forwardLines(world: World, child: Child, errorLine: EnvoyOptions["errorLine"]) {
  const forward = async () => {
    for await (const line of linesOf(child.errorOutput ?? null)) errorLine?.(line);
  };
  const done = forward().catch(() => {});
  return async (milliseconds: number) => {
    const late = new AbortController();
    await Promise.race([done, world.clock.sleep(milliseconds, late.signal)]);
    late.abort();
  };
}

const VALIDATION_MILLISECONDS = 30_000;

/**
 * Runs Envoy with `--mode validate`, because an epoch that fails during its start would break all later hot restarts.
 * Rejects with a `MeshError` that quotes Envoy.
 */
export async function validateConfiguration(
  world: World,
  options: EnvoyOptions,
  args: readonly string[],
): Promise<void> {
  const { code, stderr, timedOut } = await world.processes.run({
    command: options.binary,
    args: [...args, "--mode", "validate"],
    timeoutMilliseconds: VALIDATION_MILLISECONDS,
    env: options.env,
  });
  if (code === 0) return;
  const reason = timedOut ? "timed out" : stderr.trim().split("\n").at(-1)?.slice(0, 500);
  throw new MeshError(`Envoy rejects the new configuration: ${reason}`);
}
