/** The abilities of the terminal behind standard output: colour, Unicode, columns. */
import type { World } from "./world.ts";

/** Whether output is without colour and progress (https://no-color.org, TERM). */
export function isPlain({ stdout, env }: Pick<World, "stdout" | "env">): boolean {
  return !stdout.isTerminal || (env.get("NO_COLOR") ?? "") !== "" || env.get("TERM") === "dumb";
}

/** Whether a terminal shows no more than ASCII. */
export function isDumb({ stdout, env }: Pick<World, "stdout" | "env">): boolean {
  return stdout.isTerminal && env.get("TERM") === "dumb";
}

const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;

/** The columns of the terminal; COLUMNS comes first (POSIX, "Environment Variables"); 80 where neither is known. */
export function columnsOf({ stdout, env }: Pick<World, "stdout" | "env">): number {
  return numberIn(env.get("COLUMNS")) ?? stdout.columns ?? USUAL_COLUMNS;
}

/** The width of a table: the columns of a terminal; no limit in a pipe or a file. */
export function tableWidthOf(world: Pick<World, "stdout" | "env">): number {
  return world.stdout.isTerminal ? columnsOf(world) : Infinity;
}

/** The lines of the terminal; LINES comes first; 24 where neither is known. */
export function rowsOf({ stdout, env }: Pick<World, "stdout" | "env">): number {
  return numberIn(env.get("LINES")) ?? stdout.rows ?? USUAL_ROWS;
}

function numberIn(said = ""): number | undefined {
  return /^[1-9]\d{0,4}$/.test(said) ? Number(said) : undefined;
}
