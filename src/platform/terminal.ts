/** Capabilities of the terminal behind standard output: colour, Unicode, columns. */
import type { World } from "./world.ts";

/** Whether to print without colour and progress (https://no-color.org, TERM). */
export function isPlain({ stdout, env }: Pick<World, "stdout" | "env">): boolean {
  return !stdout.isTerminal || (env.get("NO_COLOR") ?? "") !== "" || env.get("TERM") === "dumb";
}

/** Whether a terminal shows only ASCII. */
export function isDumb({ stdout, env }: Pick<World, "stdout" | "env">): boolean {
  return stdout.isTerminal && env.get("TERM") === "dumb";
}

const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;

/** Returns the columns from COLUMNS (POSIX, "Environment Variables"), otherwise of the terminal, otherwise 80. */
export function columnsOf({ stdout, env }: Pick<World, "stdout" | "env">): number {
  return numberIn(env.get("COLUMNS")) ?? stdout.columns ?? USUAL_COLUMNS;
}

/** Returns the width for a table: the columns of a terminal, or no limit in a pipe or a file. */
export function tableWidthOf(world: Pick<World, "stdout" | "env">): number {
  return world.stdout.isTerminal ? columnsOf(world) : Infinity;
}

/** Returns the lines from LINES, otherwise of the terminal, otherwise 24. */
export function rowsOf({ stdout, env }: Pick<World, "stdout" | "env">): number {
  return numberIn(env.get("LINES")) ?? stdout.rows ?? USUAL_ROWS;
}

function numberIn(said = ""): number | undefined {
  return /^[1-9]\d{0,4}$/.test(said) ? Number(said) : undefined;
}
