/** Starts this program as a worker: the same executable with the same permissions, compiled or from source. */
import { MeshError, messageOf } from "../../base/errors.ts";
import type { Helper } from "../processes.ts";
import { endOfChild } from "./child_process.ts";

/** The name that selects the command line of this project (cli/names.ts), whatever the name of the executable. */
const NAME = "kubectl-mesh";

/** Starts a helper; see `Processes.help`. Its standard error is that of this process. */
export function spawnHelper(args: readonly string[], program = thisProgram()): Helper {
  const child = start(program, args);
  const writer = child.stdin.getWriter();
  const ended = endOfChild(child);
  // `ended` reports a child that ended.
  const lost = () => {};
  writer.closed.catch(lost);
  return {
    pid: child.pid,
    send: (bytes) => void writer.write(bytes).catch(lost),
    close: () => void writer.close().catch(lost),
    kill: () => kill(child),
    ended,
  };
}

/** A command and its first arguments. */
type Program = readonly [command: string, ...args: string[]];

function start([command, ...first]: Program, args: readonly string[]): Deno.ChildProcess {
  try {
    return new Deno.Command(command, {
      args: [...first, ...args],
      env: { MESH_ARGV0: NAME },
      stdin: "piped",
      stdout: "null",
      stderr: "inherit",
      // Its own session: an interrupt at the terminal is for this process, which ends its helpers.
      detached: true,
    }).spawn();
  } catch (error) {
    throw new MeshError(`This program cannot be started once more: ${messageOf(error)}`, { cause: error });
  }
}

/** The compiled program, or Deno with the flags of `plugin/kubectl-mesh`. */
function thisProgram(): Program {
  if (Deno.build.standalone) return [Deno.execPath()];
  const config = decodeURIComponent(new URL("../deno.json", Deno.mainModule).pathname);
  const flags = ["--quiet", "--config", config, "--no-check", "--no-prompt", "--allow-all"];
  return [Deno.execPath(), "run", ...flags, Deno.mainModule];
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has ended.
  }
}
