/**
 * What the commands are called: names, flags, help, errors, exit codes. In go the arguments of the process, out come
 * what the user reads and the exit code. It knows no work: each command loads its room when it runs.
 */
import type { World } from "../core/world/world.ts";
import { endOf } from "./failure.ts";
import { commandLine } from "./names.ts";
import { runProgram } from "./program.ts";

/** Runs the command line of this world to its end; returns the exit code. Never throws. */
export async function main(world: World): Promise<number> {
  try {
    return await runProgram(world, commandLine(world.name, world.args));
  } catch (error) {
    return endOf(world, error);
  }
}
