import { EXIT, MeshError, messageOf } from "../../errors.ts";
import { endOfChild } from "./child_process.ts";
import { EACCES, ENOENT, SystemError } from "../system_calls.ts";
import type { AttachedChild } from "../world.ts";

/** Starts a program in the session and process group of this one, with its streams: it has the terminal, if there is one. */
export function attachChild(command: string, args: readonly string[]): AttachedChild {
  const child = start(command, args);
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

function start(command: string, args: readonly string[]): Deno.ChildProcess {
  try {
    return new Deno.Command(command, { args: [...args], stdin: "inherit", stdout: "inherit", stderr: "inherit" })
      .spawn();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new SystemError("execvp", ENOENT);
    if (error instanceof Deno.errors.PermissionDenied) throw new SystemError("execvp", EACCES);
    throw new MeshError(`Cannot run "${command}": ${messageOf(error)}`, { cause: error, exitCode: EXIT.notExecutable });
  }
}
