import { isPlain } from "../../core/terminal.ts";
import type { World } from "../../core/world/mod.ts";
import type { Progress } from "../run.ts";

/** A progress line on standard error, only on a terminal. */
export interface ProgressLine {
  readonly tell: Progress;
  /** Shows what the command waits for. */
  say(text: string): void;
  /** Removes the line. */
  clear(): void;
}

/** Whether TERM is `dumb`. */
export function isDumb(world: World): boolean {
  return world.stdout.isTerminal && world.env.get("TERM") === "dumb";
}

/** The line of a run of checks. */
export function progressLine(world: World): ProgressLine {
  const isOn = world.stderr.isTerminal && !isPlain(world);
  const say = (text: string) => {
    if (isOn) world.stderr.write(`\r\x1b[K${text}`);
  };
  return { say, tell: (ended, all) => say(`${ended} of ${all} checks`), clear: () => say("") };
}
