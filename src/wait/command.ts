/** Runs the command after the wait. */
import { EXIT, MeshError } from "../base/errors.ts";
import { ENOENT, SystemError } from "../platform/mod.ts";
import type { AttachedChild, SignalName, World } from "../platform/world.ts";

/**
 * Replaces this process with the command (execvp, on Linux), so that signals, terminal and exit code belong to the
 * command. On other systems, the command runs as a child. Throws a `MeshError` with code 127 if the program does not
 * exist, and 126 if it is not executable.
 */
export async function become(world: World, [file = "", ...args]: readonly string[]): Promise<number> {
  if (world.machine.os !== "linux") return await supervise(world, [file, ...args]);
  try {
    return world.system.execute(file, args);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw cannotRun(file, error);
  }
}

function cannotRun(file: string, { errno, message }: SystemError): MeshError {
  const reason = message.slice(message.lastIndexOf(": ") + 2);
  return new MeshError(`Cannot run "${file}": ${reason}`, {
    exitCode: errno === ENOENT ? EXIT.notFound : EXIT.notExecutable,
    ...errno === ENOENT ? { hint: "check PATH in this container" } : {},
  });
}

/** Signals that a terminal sends to the whole foreground process group, which includes the child. */
const OF_THE_TERMINAL: readonly SignalName[] = ["SIGINT", "SIGQUIT", "SIGHUP"];
const FORWARDED = ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const;

/**
 * Runs the command as a child with this process's streams and terminal, and forwards signals. Returns the command's
 * exit code, or 128 + signal after a signal. Throws the same errors as {@link become}.
 */
export async function supervise(world: World, [file = "", ...args]: readonly string[]): Promise<number> {
  let child: AttachedChild | undefined;
  const hasTerminal = world.stdin.isTerminal;
  const names = world.machine.os === "windows" ? [] : FORWARDED;
  // Handlers are set first: otherwise, a signal would end this process and orphan the child.
  const offs = names.map((name) =>
    world.signals.on(name, () => {
      if (!hasTerminal || !OF_THE_TERMINAL.includes(name)) child?.signal(name);
    })
  );
  try {
    child = start(world, file, args);
    return (await child.ended).code;
  } finally {
    offs.forEach((off) => off());
  }
}

function start(world: World, file: string, args: readonly string[]): AttachedChild {
  try {
    return world.processes.attach(file, args);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw cannotRun(file, error);
  }
}
