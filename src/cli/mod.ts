/**
 * The command line. In: the arguments of the process. Out: what the user reads, and the exit code. Commands are records
 * (`command.ts`, `commands/`); each loads its modules when it runs.
 */
import type { World } from "../platform/world.ts";
import { PLUGIN } from "./commands/plugin.ts";
import { dispatch } from "./dispatch.ts";
import { argumentsOf } from "./names.ts";

/** Runs the command line of this world to its end; returns the exit code. Never throws. */
export function main(world: World): Promise<number> {
  return dispatch(world, PLUGIN, argumentsOf(world.name, world.args));
}
