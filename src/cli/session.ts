import type { World } from "../core/world/world.ts";

/** One run of the program: a command's implementation leaves its exit code here. */
export interface Session {
  readonly world: World;
  exitCode: number;
}
