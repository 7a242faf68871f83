/** The steps of the command: wait, then the command. */
import { EXIT, MeshError } from "../core/errors.ts";
import type { World } from "../core/world/world.ts";
import type { WaitOptions } from "./options.ts";
import { type Outcome, poll } from "./poll.ts";
import type { Voice } from "./reporter.ts";

/**
 * Waits, then becomes the command, or runs it; returns the exit code. Errors: a `MeshError` for a time-out, and for a
 * command that cannot be run (code 127 or 126).
 */
export async function runWait(world: World, options: WaitOptions, voice: Voice): Promise<number> {
  try {
    return await waitAndRun(world, options, voice);
  } catch (error) {
    if (error instanceof MeshError && await voice.error(error)) return error.exitCode;
    throw error;
  }
}

async function waitAndRun(world: World, options: WaitOptions, voice: Voice): Promise<number> {
  const reason = world.env.get("MESH_WAIT_DISABLED") ?? "";
  if (!MEANS_NO.includes(reason)) {
    await voice.note(`Not waiting: MESH_WAIT_DISABLED is "${reason}"`);
    return await proceed(world, { ...options, shutdown: undefined }, voice);
  }
  const interruption = interruptionOf(world);
  await voice.begin(options.timeout);
  const { waited, unready } = await poll(world, options, (seen) => voice.unready(textOf(seen)), interruption.signal);
  interruption.off();
  if (interruption.signal.aborted) return interruption.code();
  if (unready.size === 0) await voice.ready(waited);
  else await overdue(world, options, voice, unready);
  return await proceed(world, options, voice);
}

const MEANS_NO: readonly string[] = ["", "0", "false"];

function textOf(unready: Outcome["unready"]): string {
  return [...unready].map(([url, { seen }]) => `${url}: ${seen}`).join("; ");
}

/** Words for what is wrong, and what does not wait, are loaded only when they are needed: a start is short. */
async function overdue(world: World, options: WaitOptions, voice: Voice, unready: Outcome["unready"]): Promise<void> {
  const { explain } = await import("./stages.ts");
  const error = voice.timedOut(options.timeout, await explain(world, unready, options.requestTimeout));
  if (options.onTimeout === "fail") throw error;
  await voice.warn(`${error.message}; going on`);
}

async function proceed(world: World, { command, shutdown }: WaitOptions, voice: Voice): Promise<number> {
  if (command.length === 0) return EXIT.ok;
  const { become, supervise } = await import("./command.ts");
  if (shutdown === undefined) return await become(world, command);
  const code = await supervise(world, command);
  const { tellToQuit } = await import("./quit.ts");
  await tellToQuit(world, shutdown, code, voice);
  return code;
}

const CODES = { SIGTERM: EXIT.terminated, SIGINT: EXIT.interrupted } as const;

/**
 * The kernel ignores the default action of signals for the first process of a container. For all others it is what is
 * wanted, and a signal that is ignored stays so for the command.
 */
function interruptionOf(world: World) {
  const controller = new AbortController();
  let code = 0;
  const names = world.machine.pid === 1 ? ["SIGTERM", "SIGINT"] as const : [];
  const offs = names.map((name) =>
    world.signals.on(name, () => {
      code = CODES[name];
      controller.abort();
    })
  );
  return { signal: controller.signal, code: () => code, off: () => offs.forEach((off) => off()) };
}
