/**
 * What the commands are called: names, flags, help, errors, exit codes. In go the arguments of the process, out come
 * what the user reads and the exit code. It knows no work: each command loads its room when it runs.
 */
import type { World } from "../core/world/world.ts";
import { endOf } from "./failure.ts";
import { commandLine } from "./names.ts";
import { rawCommand } from "./commands/raw.ts";

/** Runs the command line of this world to its end; returns the exit code. Never throws. */
export async function main(world: World): Promise<number> {
  try {
    const words = helpAsFlag(commandLine(world.name, world.args));
    const raw = rawCommand(words);
    if (raw !== undefined) return await raw(world);
    return await (await import("./program.ts")).runProgram(world, words);
  } catch (error) {
    return endOf(world, error);
  }
}

/** `help inject` is `inject --help`. Without a command kubectl and its plugins show their help. */
function helpAsFlag(args: readonly string[]): readonly string[] {
  const [first, ...rest] = args;
  if (first === undefined) return ["--help"];
  return first === "help" ? [...rest, "--help"] : args;
}
