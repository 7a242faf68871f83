/** Runs the steps: wait, then run the command. */
import { EXIT, MeshError } from "../base/errors.ts";
import { shownUrl } from "../base/shown_url.ts";
import type { World } from "../platform/world.ts";
import type { WaitOptions } from "./options.ts";
import { type Outcome, poll } from "./poll.ts";
import type { Reporter } from "./reporter.ts";

/**
 * Waits, runs the command and returns the exit code. Throws a `MeshError` after a timeout, and for a command that
 * cannot run (code 127 or 126).
 */
export async function runWait(world: World, options: WaitOptions, reporter: Reporter): Promise<number> {
  try {
    return await waitAndRun(world, options, reporter);
  } catch (error) {
    if (error instanceof MeshError && await reporter.error(error)) return error.exitCode;
    throw error;
  }
}

async function waitAndRun(world: World, options: WaitOptions, reporter: Reporter): Promise<number> {
  const reason = world.env.get("MESH_WAIT_DISABLED") ?? "";
  if (!MEANS_NO.includes(reason)) {
    await reporter.note(`Not waiting: MESH_WAIT_DISABLED is "${reason}"`);
    return await proceed(world, { ...options, shutdown: undefined }, reporter);
  }
  const interruption = world.machine.pid === 1 ? interruptionOf(world) : undefined;
  await reporter.begin(options.timeout);
  const { waited, unready } = await poll(
    world,
    options,
    (unready) => reporter.unready([...unready].map(([url, { seen }]) => `${shownUrl(url)}: ${seen}`).join("; ")),
    interruption?.signal,
  );
  interruption?.off();
  if (interruption?.signal.aborted) return interruption.code();
  if (unready.size === 0) await reporter.ready(waited);
  else await timedOut(world, options, reporter, unready);
  return await proceed(world, options, reporter);
}

const MEANS_NO: readonly string[] = ["", "0", "false"];

/** Handles a timeout. Imports the explanation only then. */
async function timedOut(
  world: World,
  options: WaitOptions,
  reporter: Reporter,
  unready: Outcome["unready"],
): Promise<void> {
  const { explain } = await import("./stages.ts");
  const error = reporter.timedOut(options.timeout, await explain(world, unready, options.requestTimeout));
  if (options.onTimeout === "fail") throw error;
  await reporter.warn(`${error.message}; running the command anyway`);
}

async function proceed(world: World, { command, shutdown }: WaitOptions, reporter: Reporter): Promise<number> {
  if (command.length === 0) return EXIT.ok;
  const { become, supervise } = await import("./command.ts");
  if (shutdown === undefined) return await become(world, command);
  const code = await supervise(world, command);
  const { askToQuit } = await import("./quit.ts");
  await askToQuit(world, shutdown, code, reporter);
  return code;
}

const CODES = { SIGTERM: EXIT.terminated, SIGINT: EXIT.interrupted } as const;

/**
 * Ends the wait on a signal, for PID 1 only, because the kernel does not apply a signal's default action to PID 1. In
 * other processes, no handler is set, so that a signal that this process ignores (nohup(1)) stays ignored in the command.
 */
function interruptionOf(world: World) {
  const controller = new AbortController();
  let code = 0;
  const offs = (["SIGTERM", "SIGINT"] as const).map((name) =>
    world.signals.on(name, () => {
      code = CODES[name];
      controller.abort();
    })
  );
  return { signal: controller.signal, code: () => code, off: () => offs.forEach((off) => off()) };
}
