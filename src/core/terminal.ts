/** What standard output can show. */
import type { World } from "./world/world.ts";

/** Whether output is without colour and progress (https://no-color.org, TERM). */
export function isPlain({ stdout, env }: Pick<World, "stdout" | "env">): boolean {
  return !stdout.isTerminal || (env.get("NO_COLOR") ?? "") !== "" || env.get("TERM") === "dumb";
}
