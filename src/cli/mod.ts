/**
 * The command line. Input: the arguments of the process. Output: the text for the user, and the exit code. Commands are records
 * (`command.ts`, `commands/`), and each command loads its modules when it runs.
 */
import type { World } from "../platform/world.ts";
import { PLUGIN } from "./commands/plugin.ts";
import { dispatch } from "./dispatch.ts";
import { argumentsOf } from "./names.ts";

/** Runs the command line of this world and returns the exit code. Never throws. */
export function main(world: World): Promise<number> {
  return dispatch(world, PLUGIN, argumentsOf(world.name, world.args));
}
