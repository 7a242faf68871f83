import { EXIT, MeshError, messageOf } from "../../base/errors.ts";
import { exhaustion } from "../../base/exhaustion.ts";
import { programPath } from "../program_path.ts";
import { RUNTIME_ERRORS } from "../runtime_errors.ts";
import { EACCES, ENOENT, SystemError } from "../system_calls.ts";
import type { AttachedChild, Child, ChildEnd, ChildSignal, Spawn } from "../world.ts";

/**
 * Starts a long-running program with an empty signal mask. With `detached`, the program has its own session and process
 * group. Signals that this process ignores stay ignored in the program (execve(2)).
 */
export function spawnChild(spawn: Spawn): Child {
  const child = start(spawn);
  const ended = endOfChild(child);
  let running = true;
  ended.finally(() => running = false);
  return {
    pid: child.pid,
    ended,
    errorOutput: spawn.errorOutput === "piped" ? child.stderr : undefined,
    signal: (name) => running && signalGroup(child.pid, name),
  };
}

function start(spawn: Spawn): Deno.ChildProcess {
  try {
    return new Deno.Command(programPath(spawn.command), {
      args: [...spawn.args ?? []],
      stdin: "null",
      stdout: "inherit",
      stderr: spawn.errorOutput ?? "inherit",
      detached: true,
      ...(spawn.env === undefined ? {} : { env: { ...spawn.env } }),
      ...(spawn.uid === undefined ? {} : { uid: spawn.uid }),
      ...(spawn.gid === undefined ? {} : { gid: spawn.gid }),
    }).spawn();
  } catch (error) {
    throw spawnError(spawn.command, error);
  }
}

function spawnError(command: string, error: unknown): MeshError {
  if (error instanceof MeshError) return error;
  if (error instanceof Deno.errors.NotFound) {
    return new MeshError(`Cannot start "${command}": program not found`, { cause: error });
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return new MeshError(`Cannot start "${command}": it is not executable, or this user may not run it`, {
      cause: error,
    });
  }
  const { reason = messageOf(error), hint } = exhaustion(error) ?? {};
  return new MeshError(`Cannot start "${command}": ${reason}`, { cause: error, hint });
}

/** PIDs of children that Deno waits for; other code must not reap these children. */
const awaited = new Set<number>();

/** Whether Deno waits for this child. */
export function isAwaited(pid: number): boolean {
  return awaited.has(pid);
}

/** Waits for a child that Deno started. Call this in the same turn of the event loop that starts the child. */
export function endOfChild(child: Deno.ChildProcess): Promise<ChildEnd> {
  awaited.add(child.pid);
  return child.status.finally(() => awaited.delete(child.pid)).then(endOf, endByUnknownSignal);
}

function endOf({ code, signal }: Deno.CommandStatus): ChildEnd {
  return { code, signal: signal ?? undefined };
}

function endByUnknownSignal(error: unknown): ChildEnd {
  const number = RUNTIME_ERRORS.unknownSignal.pattern.exec(messageOf(error))?.[1];
  if (number === undefined) throw error;
  return { code: 128 + Number(number), signal: `SIG${number}` };
}

/** Signals a process group. Returns `false` if the group has no process left. */
function signalGroup(pid: number, name: ChildSignal): boolean {
  try {
    Deno.kill(-pid, name);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw new MeshError(`Cannot send ${name} to process "${pid}": ${messageOf(error)}`, { cause: error });
  }
}

/** Starts a program with the session, process group, standard streams and terminal of this process. */
export function attachChild(command: string, args: readonly string[]): AttachedChild {
  const child = startAttached(command, args);
  const ended = endOfChild(child);
  let running = true;
  ended.finally(() => running = false);
  return {
    ended,
    signal(name) {
      if (running) Deno.kill(child.pid, name);
      return running;
    },
  };
}

function startAttached(command: string, args: readonly string[]): Deno.ChildProcess {
  try {
    return new Deno.Command(programPath(command), {
      args: [...args],
      stdin: "inherit",
      stdout: "inherit",
      stderr: "inherit",
    })
      .spawn();
  } catch (error) {
    if (error instanceof MeshError) throw error;
    if (error instanceof Deno.errors.NotFound) throw new SystemError("execvp", ENOENT);
    if (error instanceof Deno.errors.PermissionDenied) throw new SystemError("execvp", EACCES);
    throw new MeshError(`Cannot run "${command}": ${messageOf(error)}`, { cause: error, exitCode: EXIT.notExecutable });
  }
}
